import { z } from "zod";
import { formatCanonical, type JsonValue, parseObject } from "../../../core/canonical/index.ts";
import table from "./setups.json" with { type: "json" };

const name = z.string().min(1);

/** A row of `setups.json`: what a lock file means for a tree that is to be verified. */
const setupRow = z.strictObject({
  /** The name of the lock file; `*` stands for any characters. */
  match: name,
  when: z.strictObject({
    /** The manifest next to or below the lock file. */
    changed: name.optional(),
    /** Members of a JSON manifest that decide what is installed; without them every change of it counts. */
    fields: z.array(name).min(1).optional(),
    /** The folder that the command fills. */
    missing: name.optional(),
    /** Only where this is next to the lock file, or only where it does not. */
    with: name.optional(),
    without: name.optional(),
  }),
  /** Words; `{file}` is the lock file. Null: nothing has to run, only the hosts matter. */
  command: z.array(name).min(1).nullable(),
  /** Whose configuration of the user names the registry. */
  hosts_from: z.enum(["npm", "pip", "gem", "composer", "cargo", "go"]).nullable(),
});

/** The whole table, as a user could extend it. */
export const setupTable = z.strictObject({
  schema_version: z.literal("verbatim-setups-v1"),
  setups: z.array(setupRow),
});

export type SetupRow = z.infer<typeof setupRow>;

export const SETUPS: readonly SetupRow[] = setupTable.parse(table).setups;

/** What the matcher asks about the tree with the candidate in it. */
export interface SetupFacts {
  /** Paths of the candidate. */
  readonly changed: readonly string[];
  /** Whether a file that git keeps is there, the candidate included. */
  isThere(path: string): boolean;
  /** Whether something git does not keep is there, such as node_modules. */
  has(path: string): boolean;
  /** The bytes of a file before and after the candidate; null where there is none. */
  read(path: string, side: "base" | "candidate"): Promise<Uint8Array | null>;
}

/** A command that has to run before the tree can be verified. */
export interface SetupStep {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** `package-lock.json changed` */
  readonly why: string;
  readonly hosts_from: SetupRow["hosts_from"];
}

export interface Setups {
  readonly steps: readonly SetupStep[];
  readonly notices: readonly string[];
}

interface Hit {
  readonly row: SetupRow;
  readonly folder: string;
  /** Name of the lock file. */
  readonly file: string;
  readonly why: string;
}

/**
 * What has to be installed before a candidate is verified: where it changes a lock file or what its manifest asks for,
 * and where the folder of the result is missing. A folder is filled once, by the lock file that changed before others.
 */
export async function findSetups(facts: SetupFacts, rows: readonly SetupRow[] = SETUPS): Promise<Setups> {
  const byManifest: Hit[] = [];
  const notices: string[] = [];
  const byLock = rows.flatMap((row) => findLocks(row, facts));
  for (const row of rows) {
    for (const path of facts.changed) {
      const folder = row.when.changed === nameOf(path) ? findLockFolder(row, path, facts) : null;
      if (folder === null || !isUsable(row, folder, facts) || !(await decides(row, path, facts))) continue;
      const lock = join(folder, row.match);
      byManifest.push({ row, folder, file: row.match, why: `${path} changed` });
      const notice = `${path} changed but its lock file did not`;
      if (!facts.changed.includes(lock) && !notices.includes(notice)) notices.push(notice);
    }
  }
  const byFolder = rows.flatMap((row) => findMissing(row, facts));
  const steps: SetupStep[] = [];
  const filled = new Set<string>();
  for (const { row, folder, file, why } of [...byLock, ...byManifest, ...byFolder]) {
    const result = `${folder}\0${row.when.missing ?? file}`;
    if (row.command === null || filled.has(result)) continue;
    filled.add(result);
    const argv = row.command.map((word) => (word === "{file}" ? file : word));
    steps.push({ argv, cwd: folder === "" ? "." : folder, why, hosts_from: row.hosts_from });
  }
  return { steps, notices };
}

function findLocks(row: SetupRow, facts: SetupFacts): Hit[] {
  return facts.changed.flatMap((path) => {
    const [folder, file] = [folderOf(path), nameOf(path)];
    const fits = matches(row.match, file) && facts.isThere(path) && isUsable(row, folder, facts);
    return fits ? [{ row, folder, file, why: `${path} changed` }] : [];
  });
}

/** The nearest folder with the lock file, from a manifest upwards. */
function findLockFolder(row: SetupRow, manifest: string, facts: SetupFacts): string | null {
  for (let folder = folderOf(manifest); ; folder = folderOf(folder)) {
    if (facts.isThere(join(folder, row.match))) return folder;
    if (folder === "") return null;
  }
}

function findMissing(row: SetupRow, facts: SetupFacts): Hit[] {
  const { missing } = row.when;
  if (missing === undefined || !facts.isThere(row.match) || facts.has(missing) || !isUsable(row, "", facts)) return [];
  return [{ row, folder: "", file: row.match, why: `${missing} is missing` }];
}

function isUsable({ when }: SetupRow, folder: string, facts: SetupFacts): boolean {
  const lies = (one: string) => facts.isThere(join(folder, one)) || facts.has(join(folder, one));
  return (when.with === undefined || lies(when.with)) && (when.without === undefined || !lies(when.without));
}

/** Whether a change of a manifest changes what is installed. What cannot be read may have. */
async function decides({ when }: SetupRow, path: string, facts: SetupFacts): Promise<boolean> {
  if (when.fields === undefined) return true;
  const [before, after] = [
    parseObject(await facts.read(path, "base")),
    parseObject(await facts.read(path, "candidate")),
  ];
  if (before === null || after === null) return true;
  return when.fields.some((field) => format(before[field]) !== format(after[field]));
}

function format(value: JsonValue | undefined): string {
  return value === undefined ? "" : formatCanonical(value);
}

function matches(pattern: string, file: string): boolean {
  const star = pattern.indexOf("*");
  if (star === -1) return pattern === file;
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return file.length >= head.length + tail.length && file.startsWith(head) && file.endsWith(tail);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash === -1 ? "" : path.slice(0, slash);
}

function join(folder: string, file: string): string {
  return folder === "" ? file : `${folder}/${file}`;
}
