import { toJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { LedgerEntry } from "../contracts/context.ts";
import { checkProjectionOutput, type ProjectionOutput } from "../contracts/projection-output.ts";
import type { WriteBundle } from "../contracts/write-bundle.ts";
import { keyOf } from "../history/state.ts";
import { makeCursor } from "../ids.ts";
import { isAllowed, type View } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { readPocket } from "../people/pocket.ts";
import type { WorldReader } from "../ports.ts";
import { AFTER_LIMIT, REFRESH_LIMIT, toStreamEntry } from "../projection/projection.ts";
import { type OpenWorld, readVisible, type VisibleWorld } from "../projection/reading.ts";

interface OutcomeParts {
  readonly request_id: string;
  readonly viewer: string;
  readonly mode: "BEAT" | "NO_OP";
  readonly cursor: { readonly text: string; readonly wseq: number } | null;
  /** Committed with this invocation, not yet in the tables. */
  readonly bundle: WriteBundle | null;
}

/** The projection output of an invocation, computed on the viewer's surface. `world` is the world afterwards. */
export async function makeOutcome(
  ports: Pick<WorldPorts, "crypto" | "zones">,
  tables: WorldReader,
  before: OpenWorld,
  world: OpenWorld,
  parts: OutcomeParts,
): Promise<ProjectionOutput> {
  const view: View = { kind: "viewer", id: parts.viewer };
  const written = (parts.bundle?.entries ?? []).map(
    (entry, i) => ({ ...entry, wseq: before.state.next_wseq + i }) as LedgerEntry,
  );
  const after = parts.cursor?.wseq ?? null;
  const { shown, last, wrote } = await project(tables, before, world.cast, view, { mode: parts.mode, after, written });
  const key = keyOf(world.state);
  return judged({
    request_id: parts.request_id,
    stream: {
      cursor_before: parts.cursor?.text ?? null,
      cursor_after:
        last === null ? (parts.cursor?.text ?? null) : makeCursor(ports.crypto, key, parts.viewer, last.entry_id),
      entries: shown.map((entry) => toStreamEntry(world.cast, entry)),
    },
    pocket: await readPocket(ports, tables, world, view),
    debug: { wrote, bundle_id: wrote ? (parts.bundle?.bundle_id ?? null) : null },
  });
}

/** Nothing that breaks the contract is sent or stored: an empty or half right answer would read as silence. */
function judged(output: ProjectionOutput): ProjectionOutput {
  try {
    checkProjectionOutput(toJson(output), { request_id: output.request_id });
    return output;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("STORE_CORRUPT", {
      message: `the answer would break its contract: ${thrown.code}${thrown.where === undefined ? "" : ` at ${thrown.where}`}`,
      fix: {
        cli: "Find where the tables differ from the records: verbatim world verify",
        others: "Verify the world: that names where the tables differ from the records.",
      },
      cause: thrown,
    });
  }
}

interface StreamParts {
  readonly mode: "BEAT" | "NO_OP";
  /** Number of the entry that a cursor names. */
  readonly after: number | null;
  /** Committed with this invocation, not yet in the tables. */
  readonly written: readonly LedgerEntry[];
}

/** Which entries an invocation shows a viewer, the newest that the viewer knows of then, and whether it wrote for it. */
export async function project(
  tables: Pick<WorldReader, "range" | "visible">,
  before: VisibleWorld,
  cast: Cast,
  view: View,
  { mode, after, written }: StreamParts,
  limits = { after: AFTER_LIMIT, refresh: REFRESH_LIMIT },
): Promise<{ readonly shown: readonly LedgerEntry[]; readonly last: LedgerEntry | null; readonly wrote: boolean }> {
  const fresh = written.filter((entry) => isAllowed(cast, view, entry));
  const newest = (limit: number) => readVisible(tables, before, view, { limit, newest: true });
  const wrote = fresh.length > 0;
  if (after !== null) {
    const old = await readVisible(tables, before, view, { after, limit: limits.after });
    const shown = [...old, ...fresh].slice(0, limits.after);
    return { shown, last: shown.at(-1) ?? null, wrote };
  }
  const shown = mode === "BEAT" ? fresh : await newest(limits.refresh);
  return { shown, last: shown.at(-1) ?? fresh.at(-1) ?? (await newest(1))[0] ?? null, wrote };
}
