import { CONFIG, USER_CONFIG } from "../../core/contracts/config/index.ts";
import {
  CHECKPOINT,
  CONSISTENCY_PROOF,
  type ContractObject,
  DSSE_ENVELOPE,
  INCLUSION_PROOF,
  LEDGER_ENTRY,
  TRUST_POLICY,
} from "../../core/contracts/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { findNearest } from "../../core/text/index.ts";
import { CATALYTIC_CONTRACTS } from "../../rooms/catalytic/index.ts";
import { CONTEXT_CONTRACTS } from "../../rooms/context/index.ts";
import { JOBS_CONTRACTS } from "../../rooms/jobs/index.ts";
import { WORKFLOW_CONTRACTS } from "../../rooms/workflow/index.ts";
import { WORLD_CONTRACTS } from "../../rooms/world/index.ts";

/**
 * Every contract object of the product. A room adds its own list here.
 *
 * @example
 * CONTRACTS.map(toContractId).includes("world/write-bundle"); // => true
 */
export const CONTRACTS: readonly ContractObject[] = [
  CONFIG,
  USER_CONFIG,
  ...CATALYTIC_CONTRACTS,
  ...CONTEXT_CONTRACTS,
  ...JOBS_CONTRACTS,
  ...WORKFLOW_CONTRACTS,
  ...WORLD_CONTRACTS,
  LEDGER_ENTRY,
  CHECKPOINT,
  INCLUSION_PROOF,
  CONSISTENCY_PROOF,
  DSSE_ENVELOPE,
  TRUST_POLICY,
];

/**
 * `room/name`, by which an object is always found.
 *
 * @example
 * toContractId(findContract("write-bundle")); // => "world/write-bundle"
 */
export function toContractId(contract: ContractObject): string {
  return `${contract.room}/${contract.name}`;
}

/**
 * The object of `room/name`, or of a name that only one room has; else CONTRACT_UNKNOWN with the nearest names.
 *
 * @example
 * findContract("jobs/message").title; // => "Message"
 * findContract("jobs/mesage"); // throws CONTRACT_UNKNOWN
 */
export function findContract(id: string): ContractObject {
  const found = CONTRACTS.filter((one) => toContractId(one) === id || one.name === id);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const names = CONTRACTS.map((one) => (id.includes("/") ? toContractId(one) : one.name));
  const near = found.length > 0 ? found.map(toContractId) : findNearest(id, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
  throw new VerbatimError("CONTRACT_UNKNOWN", {
    message: `there is no contract object ${JSON.stringify(id)}${hint}`,
    details: { nearest: near },
  });
}
