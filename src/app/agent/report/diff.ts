import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isUnder, showPath } from "../../../core/paths/index.ts";
import {
  AgentRecord,
  type CandidateFile,
  type FileHunks,
  PATCH_FILE,
  PatchRefused,
  type Run,
  readHunks,
} from "../../../rooms/workflow/index.ts";
import { CAPTURED_FILE } from "./agent-summary.ts";

const extent = {
  old_start: z.int(),
  old_lines: z.int(),
  new_start: z.int(),
  new_lines: z.int(),
  added: z.int(),
  deleted: z.int(),
};

export const fileDiff = z.strictObject({
  path: z.string(),
  operation: z.enum(["create", "modify", "delete"]),
  kind: z.enum(["text", "binary", "link", "mode"]).describe("Only text has hunks; the rest is taken or left whole."),
  added: z.int(),
  deleted: z.int(),
  bytes: z.int(),
  old_bytes: z.int().optional().describe("Size before, of a binary file that was there."),
  mode: z.string().nullable(),
  target: z.string().optional(),
  hunks: z.array(
    z.strictObject({
      n: z.int().describe("The number that --only and --except take: PATH:1,3-4."),
      id: z.string().describe("A name that stays the same as long as the hunk does."),
      ...extent,
      parts: z.array(z.strictObject({ n: z.string(), ...extent })).optional(),
      text: z.string().describe("The lines of the hunk with its header, as a unified diff has them."),
    }),
  ),
});

type FileDiff = z.infer<typeof fileDiff>;

/** The change of a run, file by file and hunk by hunk; with a path only what is at or below it. SELECTION_INVALID. */
export function readDiff(run: Run, path: string | null, c?: number | null): FileDiff[] {
  const record = AgentRecord.load(run);
  const files = record === null ? readFirst(run) : readCandidate(record, c === undefined ? record.now.candidate : c);
  if (path === null) return files;
  const wanted = files.filter((file) => isUnder(file.path, path.replace(/\/+$/, "")));
  if (wanted.length > 0) return wanted;
  throw new VerbatimError("SELECTION_INVALID", {
    message: `nothing in the change is called ${showPath(path)}`,
    fix: `See what is in it: verbatim agent show ${run.id}`,
  });
}

function readCandidate(record: AgentRecord, c: number | null): FileDiff[] {
  const candidate = c === null ? null : record.candidate(c);
  if (c === null || candidate === null) return [];
  const hunks = readPatch(record.run, record.patch(c));
  return candidate.files.map((file) => toDiff(file, hunks.get(file.path)));
}

function toDiff(file: CandidateFile, found?: FileHunks) {
  const { path, operation, kind, added, deleted, bytes, mode, target, old_bytes } = file;
  const facts = {
    ...{ path, operation, kind, added, deleted, bytes, mode },
    ...(target === undefined ? {} : { target }),
    ...(old_bytes === undefined ? {} : { old_bytes }),
  };
  return { ...facts, hunks: kind === "text" ? toHunks(found) : [] };
}

/** Runs that were made before candidates had files of their own: what their patch says. */
function readFirst(run: Run): FileDiff[] {
  const patch = run.read(PATCH_FILE) ?? run.read(CAPTURED_FILE);
  return [...readPatch(run, patch)].map(([path, found]) => {
    const { operation, added, deleted } = found.section;
    const what = operation === "create" || operation === "delete" ? operation : "modify";
    return { path, operation: what, kind: "text", added, deleted, bytes: 0, mode: null, hunks: toHunks(found) };
  });
}

/** A patch with a name that the gate refuses cannot be taken apart. */
function readPatch(run: Run, patch: Uint8Array | null): ReadonlyMap<string, FileHunks> {
  try {
    return patch === null ? new Map() : readHunks(patch, run.ports.crypto);
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return new Map();
    throw thrown;
  }
}

function toHunks(found: FileHunks | undefined): FileDiff["hunks"] {
  const decoder = new TextDecoder();
  return (found?.hunks ?? []).map(({ facts: { parts, ...facts }, bytes }) => ({
    ...facts,
    ...(parts === undefined ? {} : { parts: parts.map((part) => ({ ...part })) }),
    text: decoder.decode(bytes),
  }));
}

export const comparedFile = z.strictObject({
  path: z.string(),
  first: z.strictObject({ added: z.int(), deleted: z.int() }).nullable().describe("Null: it leaves the file alone."),
  second: z.strictObject({ added: z.int(), deleted: z.int() }).nullable(),
  same: z.boolean().describe("Both leave the same bytes."),
});

/** Two changes side by side, by path. */
export function compareChanges(first: Run, second: Run): z.infer<typeof comparedFile>[] {
  const [a, b] = [readEnds(first), readEnds(second)];
  const paths = [...new Set([...a.keys(), ...b.keys()])].sort((x, y) => (x < y ? -1 : 1));
  return paths.map((path) => {
    const [one, other] = [a.get(path) ?? null, b.get(path) ?? null];
    const size = (end: typeof one) => (end === null ? null : { added: end.added, deleted: end.deleted });
    return { path, first: size(one), second: size(other), same: one !== null && one.leaves === other?.leaves };
  });
}

function readEnds(
  run: Run,
): Map<string, { readonly added: number; readonly deleted: number; readonly leaves: string }> {
  const record = AgentRecord.load(run);
  const candidate = record?.now.candidate == null ? null : record.candidate(record.now.candidate);
  if (candidate !== null && candidate !== undefined) {
    return new Map(
      candidate.files.map(({ path, added, deleted, sha256, mode }) => [
        path,
        { added, deleted, leaves: `${mode} ${sha256}` },
      ]),
    );
  }
  const texts = readDiff(run, null);
  return new Map(
    texts.map(({ path, added, deleted, hunks }) => [
      path,
      { added, deleted, leaves: hunks.map(({ text }) => text).join("") },
    ]),
  );
}
