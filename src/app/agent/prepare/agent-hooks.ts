import { isJsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { NewEntry } from "../../../core/ports.ts";
import { type Run, streamOf } from "../../../rooms/workflow/index.ts";
import { HOOK_SPOOL, HOOK_SPOOL_FILE } from "../../hooks/hook-receipt.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentSummary } from "../report/agent-summary.ts";

const MOST_REPORTS = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_LINE = 64 * 1024;
const KIND = /^HOOK_[A-Z_]{1,40}$/;
/** Whoever speaks here is the agent's side, whatever it says it is. */
const ACTOR = "agent";

/**
 * Brings what the agent's side reported about its hooks into the ledger. A hook inside a view has no secret that the
 * agent could not read, so its lines may be forged: they are entered as reports of the agent and never as judgements.
 * The spool is opened without following links or waiting, and read up to a limit.
 */
export async function collectReports(outside: AgentPorts, run: Run): Promise<AgentSummary["hooks"]> {
  const { lines, refused } = readSpool(outside, run.folder.dir);
  const entries = lines.flatMap((line) => toEntry(line) ?? []);
  const lost = lines.length - entries.length;
  if (lost > 0) entries.push({ kind: "HOOK_LINES_REFUSED", actor: ACTOR, body: { count: lost } });
  if (refused !== null) entries.push({ kind: "HOOK_SPOOL_REFUSED", actor: ACTOR, body: { reason: refused } });
  if (entries.length === 0) return { reported: 0, reported_blocked: 0 };
  const store = await outside.store("append");
  await store.transact(({ ledger }) => ledger.append(streamOf(run.id), "next", entries));
  const said = entries.flatMap(({ kind, body }) =>
    kind === "HOOK_REPORTED" && isJsonObject(body) ? [body["said"]] : [],
  );
  return { reported: said.length, reported_blocked: said.filter((kind) => kind === "HOOK_BLOCKED").length };
}

function readSpool(
  outside: AgentPorts,
  directory: string,
): { readonly lines: string[]; readonly refused: string | null } {
  const found = outside.readLeft(directory, `${HOOK_SPOOL}/${HOOK_SPOOL_FILE}`, MOST_BYTES);
  if (found === null) return { lines: [], refused: null };
  if ("refused" in found) return { lines: [], refused: found.refused };
  const { size, bytes } = found;
  const lines = bytes.toString("utf8").split("\n");
  // What follows the last line feed was not finished, or was cut.
  lines.pop();
  const isCut = size > MOST_BYTES || lines.length > MOST_REPORTS;
  return { lines: lines.slice(0, MOST_REPORTS).filter((line) => line !== ""), refused: isCut ? "too_large" : null };
}

function toEntry(line: string): NewEntry | null {
  if (line.length > MOST_LINE) return null;
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
  return { kind: "HOOK_REPORTED", actor: ACTOR, body: { said: kind, body } };
}
