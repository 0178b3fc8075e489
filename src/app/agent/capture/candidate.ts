import { lstatSync } from "node:fs";
import { join } from "node:path";
import { formatCanonical } from "../../../core/canonical/index.ts";
import type { ContentStore } from "../../../core/ports.ts";
import {
  type AgentRecord,
  type BaseTree,
  buildCandidate,
  type Candidate,
  type CandidatePick,
  type FileChange,
  listNotices,
  type ManifestChange,
  type Run,
  toName,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { formatText } from "./capture.ts";

/** What a candidate is made of. */
export interface CandidateSource {
  readonly kind: Candidate["kind"];
  readonly parent?: number;
  readonly attempt?: number;
  readonly base: BaseTree & { readonly commit: string };
  readonly changes: readonly FileChange[];
  readonly picked?: readonly CandidatePick[];
}

/** A candidate that is on disk, with its text part. */
export interface MadeCandidate {
  readonly candidate: Candidate;
  readonly patch: Uint8Array | null;
  /** What the ledger says of it. */
  readonly facts: {
    readonly c: number;
    readonly candidate: string;
    readonly candidate_sha256: string;
    readonly patch_sha256: string | null;
    readonly carried_sha256: string | null;
    readonly files: number;
    readonly carried: number;
    readonly added: number;
    readonly deleted: number;
  };
}

/** Writes a change down as the next candidate of a run; a choice that was made before is the candidate that it was. */
export async function makeCandidate(
  outside: AgentPorts,
  record: AgentRecord,
  source: CandidateSource,
): Promise<MadeCandidate> {
  const { run } = record;
  const content = await outside.content("append");
  const { base, changes, kind, parent, attempt, picked } = source;
  const place = { root: run.ports.repoRoot, tree: base.tree, objects: run.objects() };
  const patch = await formatText(outside.changedPaths, place, changes, content);
  const c = record.now.candidates + 1;
  const parts = {
    c,
    kind,
    ...(parent === undefined ? {} : { parent }),
    ...(attempt === undefined ? {} : { attempt }),
    base: { commit: base.commit, tree: base.tree },
    patch,
    changes,
    ...(picked === undefined ? {} : { picked }),
  };
  const bare = buildCandidate({ ...parts, notices: [] }, run.ports.crypto);
  const notices = listNotices({
    files: bare.candidate.files,
    manifests: await readManifests(run, base, changes, content),
    commands: commandsOf(record),
    hasFile: (path) => lstatSync(join(place.root, path), { throwIfNoEntry: false })?.isFile() === true,
  });
  const built = { ...bare, candidate: { ...bare.candidate, notices } };
  const same = kind === "selection" ? findSame(record, built.candidate) : null;
  if (same !== null) return same;
  const candidate_sha256 = await record.writeCandidate(built, patch);
  record.save({ candidates: c });
  return { candidate: built.candidate, patch, facts: describe(built.candidate, candidate_sha256) };
}

function findSame(record: AgentRecord, candidate: Candidate): MadeCandidate | null {
  for (let c = record.now.candidates; c > 0; c--) {
    const there = record.candidate(c);
    if (there?.sha256 !== candidate.sha256) continue;
    if (formatCanonical({ ...there }) === formatCanonical({ ...candidate, c })) return readCandidate(record, c);
  }
  return null;
}

function describe(candidate: Candidate, candidate_sha256: string): MadeCandidate["facts"] {
  const { c, files, patch_sha256, carried_sha256 } = candidate;
  const sum = (side: "added" | "deleted") => files.reduce((total, file) => total + file[side], 0);
  return {
    c,
    candidate: candidate.sha256,
    candidate_sha256,
    patch_sha256,
    carried_sha256,
    files: new Set(files.map(({ path }) => path)).size,
    carried: files.filter(({ hunks }) => hunks === undefined).length,
    added: sum("added"),
    deleted: sum("deleted"),
  };
}

/** A candidate that is there, as `makeCandidate` gave it back. */
export function readCandidate(record: AgentRecord, c: number): MadeCandidate | null {
  const candidate = record.candidate(c);
  if (candidate === null) return null;
  const sha256 = record.run.hash(`agent/candidates/${toName(c)}/candidate.json`)!;
  return { candidate, patch: record.patch(c), facts: describe(candidate, sha256) };
}

function commandsOf({ now }: AgentRecord): readonly (readonly string[])[] {
  const { verify, setup } = now.request;
  return [...verify, ...(typeof setup === "string" ? [] : setup)].map(({ argv }) => argv);
}

async function readManifests(
  { ports }: Run,
  base: BaseTree,
  changes: readonly FileChange[],
  content: ContentStore,
): Promise<ReadonlyMap<string, ManifestChange>> {
  const found = changes.filter(({ path }) => /(?:^|\/)package\.json$/.test(path));
  if (found.length === 0) return new Map();
  const before = await ports.landing.trees.find(
    base,
    found.map(({ path }) => path),
  );
  const manifests = await Promise.all(
    found.map(async ({ path, after }) => {
      const old = await before.get(path)?.read();
      const next = after === null || after.mode === "120000" ? null : await content.get(after.sha256);
      return [path, { before: old ?? null, after: next }] as const;
    }),
  );
  return new Map(manifests);
}
