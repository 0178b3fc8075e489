import { encodeUtf8, isJsonObject } from "../../../core/canonical/index.ts";
import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { JobSpec } from "../declare/jobspec.ts";
import type { Policy } from "../declare/policy.ts";
import { DEFAULT_SETTINGS } from "../declare/settings.ts";
import type { CatalyticPorts, Layer, RunningCommand } from "../ports.ts";
import { readArtifact } from "../record/record-files.ts";
import { placeOf } from "../run/places.ts";
import { readTrees, type Tree } from "../tree/tree.ts";
import { formatViewChanges, readViewChanges, type ViewChanges } from "../view/view-changes.ts";
import { type ViewReader, ViewRun } from "../view/view-run.ts";
import { takeAsBegun } from "./as-begun.ts";
import type { Unfinished } from "./unfinished.ts";

const CHANGES_FILE = "VIEW_CHANGES.json";
/** For a program that does nothing at all. */
const LAUNCH_MS = 60_000;

/**
 * Reads what the command of a view had done when its tool died, and writes it down as the tool would have: the same
 * comparison, of the copy as it lies there or of the overlay mounted once more. Recovery goes on whatever happens here;
 * what cannot be read is not kept, and somebody is told why.
 */
export async function keepLeftView(ports: CatalyticPorts, run: Unfinished): Promise<void> {
  const left = findLeft(ports, run);
  if (left === null) return;
  try {
    const view = new ViewRun(ports, left.request, left.declared, run.places, run.begin.guard);
    view.recall(left.tree, left.ignored, left.masked);
    const changes = await withReader(ports, run, view, async (reader) => {
      const unread = await view.collect(reader);
      if (unread.length > 0) throw new VerbatimError("INTERNAL", { message: unread[0]!.code });
      return asBegun(ports, run, left.tree, view.changes);
    });
    const place = `${run.places.record}/${CHANGES_FILE}`;
    ports.disk.replaceFile(place, encodeUtf8(`${formatViewChanges(changes)}\n`), "folder");
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    ports.notify(`what the command of run ${run.run_id} had done was not kept: ${why}`);
  }
}

/** What the command did, whatever somebody did in the real tree since: only that was compared with. */
function asBegun(
  { disk }: CatalyticPorts,
  { begin, places }: Unfinished,
  tree: Tree,
  changes: ViewChanges,
): ViewChanges {
  const { root, work } = places;
  const isReal = (path: string) => disk.stat(`${root}/${path}`) !== null;
  if (GUARD_FACTS[begin.guard].restore_method !== "discard-upper") {
    // A copy is the command's alone. What is in neither was removed by both.
    const gone = [...tree].filter(([path]) => !isReal(path) && disk.stat(`${work}/cp0/${path}`) === null);
    return { ...changes, removed: new Map([...changes.removed, ...gone]) };
  }
  const marks = disk.layerMarks(`${work}/up0`);
  return takeAsBegun(changes, {
    tree,
    marks,
    isWritten: (path) => !marks.gone.has(path) && disk.stat(`${work}/up0/${path}`) !== null,
    isReal,
  });
}

/** What a view changed, by its record; null where nothing was written down. */
export function readLeftChanges({ disk }: Pick<CatalyticPorts, "disk">, record: string): ViewChanges | null {
  const value = readArtifact(disk, record, CHANGES_FILE);
  return value === null ? null : readViewChanges(value);
}

/** Everything the comparison needs, by the word of the record and the journal; null: there is nothing to keep. */
function findLeft({ disk }: CatalyticPorts, { places, begin, journal }: Unfinished) {
  const done = journal.find(({ op }) => op === "SNAPSHOT_DONE");
  const ignored = done?.["ignored"];
  if (done?.["collects"] !== true || !Array.isArray(ignored) || !journal.some(({ op }) => op === "EXEC_STARTED"))
    return null;
  // Nothing held the command back, so what git in the real tree would obey may be the command's.
  if (GUARD_FACTS[begin.guard].class === "audit" || readArtifact(disk, places.record, CHANGES_FILE) !== null)
    return null;
  const [jobspec, policy] = ["JOBSPEC.json", "POLICY.json"].map((name) => readArtifact(disk, places.record, name));
  const tree: Tree | undefined = readTrees(readArtifact(disk, places.record, "PRE_TREE.json") ?? undefined)?.get(".");
  if (!isJsonObject(jobspec ?? undefined) || !isJsonObject(policy ?? undefined) || tree === undefined) return null;
  // Written by the run itself before its command began, out of what it had checked.
  const declared = {
    jobspec: jobspec as unknown as JobSpec,
    policy: policy as unknown as Policy,
    settings: DEFAULT_SETTINGS,
  };
  const { root, state } = places;
  const request = { root, state, user_state: "", config: {}, jobspec: jobspec!, view: NOTHING_ASKED };
  const masked = Array.isArray(done["masked"]) ? (done["masked"] as string[]) : [];
  return { declared, request, tree, ignored: ignored as string[], masked };
}

const NOTHING_ASKED = { hash_all: false, ignored: null, keep: [] } as const;

async function withReader<T>(
  ports: CatalyticPorts,
  run: Unfinished,
  view: ViewRun,
  read: (reader: ViewReader) => Promise<T>,
): Promise<T> {
  const { begin, places } = run;
  if (GUARD_FACTS[begin.guard].restore_method !== "discard-upper")
    return await read({ merged: ({ index }: Layer) => `${places.work}/cp${index}`, upper: () => null });
  const running = await mountAgain(ports, run, view);
  try {
    await running.ended;
    return await read(running);
  } finally {
    await running.release();
  }
}

/** Mounts the overlay of a run once more, in namespaces of its own, around a program that does nothing. */
function mountAgain({ guards, disk }: CatalyticPorts, { begin, places, run_id }: Unfinished, view: ViewRun) {
  const { root, work } = places;
  if (disk.stat(`${work}/up0`)?.kind !== "dir") throw new VerbatimError("INTERNAL", { message: "its layer is gone" });
  const layer: Layer = { index: 0, kind: "overlay", path: root };
  const launched: Promise<RunningCommand> = guards.launch({
    guard: begin.guard,
    run_id,
    root,
    work,
    layers: [layer],
    writable: [],
    holes: view.launch().holes,
    keeps: [],
    command: ["true"],
    cwd: placeOf(root, "."),
    env: { PATH: "/usr/bin:/bin" },
    network: "inherit",
    timeout_ms: LAUNCH_MS,
    stdin: "null",
    onOutput: () => undefined,
  });
  return launched;
}
