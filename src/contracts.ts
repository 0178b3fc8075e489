export { CONTRACTS, findContract, toContractId } from "./app/hall/contracts.ts";
export {
  type ContractObject,
  type JsonContract,
  judgeObject,
  type Problem,
  parseContract,
  type TextContract,
} from "./core/contracts/index.ts";
