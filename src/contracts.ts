/**
 * Every contract object of the product, with its schema and its rules. No Node module is imported, so it runs in a browser.
 *
 * @packageDocumentation
 */

export { webCrypto } from "./app/compose/web-crypto.ts";
export { CONTRACTS, findContract, toContractId } from "./app/hall/contracts.ts";
export {
  type ContractObject,
  type JsonContract,
  judgeObject,
  type Problem,
  parseContract,
  type TextContract,
} from "./core/contracts/index.ts";
