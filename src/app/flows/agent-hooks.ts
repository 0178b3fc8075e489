import { isJsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import type { NewEntry } from "../../core/ports.ts";
import type { Run } from "../../rooms/workflow/run/run.ts";
import { streamOf } from "../../rooms/workflow/run/run-log.ts";
import type { Composition } from "../compose.ts";
import { HOOK_SPOOL, HOOK_SPOOL_FILE } from "../hooks/hook-receipt.ts";

const MOST_RECEIPTS = 10_000;
const KIND = /^HOOK_[A-Z_]+$/;

/**
 * Brings the receipts that hooks left inside the view into the ledger. They come from the agent's own side, so they
 * are evidence of what its hooks said, not part of the proof; a line that is no receipt is counted, not trusted.
 */
export async function collectReceipts(
  composition: Composition,
  run: Run,
): Promise<{ readonly receipts: number; readonly blocked: number }> {
  const bytes = run.read(`${HOOK_SPOOL}/${HOOK_SPOOL_FILE}`);
  if (bytes === null) return { receipts: 0, blocked: 0 };
  const lines = Buffer.from(bytes)
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const entries = lines.slice(0, MOST_RECEIPTS).flatMap((line) => toEntry(line) ?? []);
  const lost = lines.length - entries.length;
  if (lost > 0) entries.push({ kind: "HOOK_LINES_REFUSED", actor: "hook", body: { count: lost } });
  const store = await composition.store("append");
  await store.transact(({ ledger }) => ledger.append(streamOf(run.id), "next", entries));
  return {
    receipts: entries.length - (lost > 0 ? 1 : 0),
    blocked: entries.filter(({ kind }) => kind === "HOOK_BLOCKED").length,
  };
}

function toEntry(line: string): NewEntry | null {
  let value: JsonValue;
  try {
    value = parseJson(line);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
  if (!isJsonObject(value)) return null;
  const { kind, body } = value;
  if (typeof kind !== "string" || !KIND.test(kind) || !isJsonObject(body)) return null;
  return { kind, actor: "hook", body };
}
