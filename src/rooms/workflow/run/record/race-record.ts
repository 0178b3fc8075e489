import { type NewWorkflowRecord, WORKFLOW_RECORDS } from "../../contracts/records.ts";
import type { Run } from "../run.ts";

/** Appends to the stream of a race, which no member of it owns. */
export async function appendToRace<K extends "RACE_STARTED" | "RACE_DECIDED">(
  { ports }: Run,
  raceId: string,
  kind: K,
  body: NewWorkflowRecord<K>,
): Promise<void> {
  const entry = WORKFLOW_RECORDS.make(kind, ports.actor, body);
  await ports.store.transact(({ ledger }) => ledger.append(`race/${raceId}`, "next", [entry]));
}
