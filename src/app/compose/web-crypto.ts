/** The cryptography of a browser: the one adapter that a page loads. */
export { webCrypto } from "../../adapters/crypto/web-crypto.ts";
