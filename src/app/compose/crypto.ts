/** The cryptography of Node, for the functions of the library that need no workspace. */
export { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
