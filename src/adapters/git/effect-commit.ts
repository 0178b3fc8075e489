import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareCodePoints, encodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { isGitName, parseRepoPath } from "../../core/paths/index.ts";
import type { Mirror } from "./mirror.ts";

/** A file of a result: its bytes as they are, or null when it is gone. */
export interface FileChange {
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array | null;
}

/** What an effect's commit says besides its files. */
export interface EffectWords {
  /** Time of the plan, RFC 3339: the same for every attempt. */
  readonly time: string;
  readonly subject: string;
  readonly job: string;
  readonly step: string;
  readonly plan: string;
  readonly incarnation?: string;
}

export interface EffectCommit {
  readonly commit: string;
  readonly tree: string;
}

const MOST_SUBJECT = 72;
const PERSON = { NAME: "Verbatim", EMAIL: "verbatim@localhost" };
// Control characters and separators of lines: a subject must not be able to add a trailer.
const BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/**
 * Makes the commit of a result on top of its parent without a work tree: no hook, filter, attribute or setting has a say,
 * so the same result is the same commit on every machine. Nothing refers to it until it is pushed.
 */
export async function buildEffect(
  mirror: Mirror,
  parent: string,
  changes: readonly FileChange[],
  words: EffectWords,
): Promise<EffectCommit> {
  const tree = await buildTree(mirror, parent, changes);
  return { commit: await commitTree(mirror, tree, [parent], words, jobTrailers(words)), tree };
}

/** What a commit says that is not of a job: its trailers are lines `Name: value`. */
export interface CommitWords {
  readonly time: string;
  readonly subject: string;
  readonly trailers: readonly string[];
}

/** The same of whatever changed on top of the first parent; more parents make it a merge. */
export async function buildCommit(
  mirror: Mirror,
  parents: readonly [string, ...string[]],
  changes: readonly FileChange[],
  words: CommitWords,
): Promise<EffectCommit> {
  const tree = await buildTree(mirror, parents[0], changes);
  return { commit: await commitTree(mirror, tree, parents, words, words.trailers), tree };
}

/** A merge of two commits by git, or the paths on which they do not fit together. */
export async function buildMerge(
  mirror: Mirror,
  parents: readonly [string, string],
  words: CommitWords,
): Promise<EffectCommit | { readonly conflicts: readonly string[] }> {
  const merged = await mirror.mergeTree(parents[0], parents[1]);
  if ("conflicts" in merged) return merged;
  return { commit: await commitTree(mirror, merged.tree, parents, words, words.trailers), tree: merged.tree };
}

async function buildTree(mirror: Mirror, parent: string, changes: readonly FileChange[]): Promise<string> {
  const rows: string[] = [];
  // What goes makes room first: a file may take the place of a folder.
  for (const { path, mode, bytes } of [...changes].sort(byOrder)) {
    requirePath(path);
    rows.push(
      bytes === null ? `0 ${"0".repeat(parent.length)}\t${path}\0` : `${mode} ${await store(mirror, bytes)}\t${path}\0`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), "verbatim-effect-"));
  try {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await mirror.git(["read-tree", `${parent}^{tree}`], { env });
    await mirror.git(["update-index", "-z", "--index-info"], { env, stdin: encodeUtf8(rows.join("")) });
    return toText(await mirror.git(["write-tree"], { env }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes the commit that closes a step's place on its branch: no files, and nothing of that step can follow its parent. */
export async function buildSeal(mirror: Mirror, parent: string, words: EffectWords): Promise<EffectCommit> {
  const tree = toText(await mirror.git(["rev-parse", "--verify", `${parent}^{tree}`]));
  const trailers = [...jobTrailers(words), `Verbatim-Sealed: ${words.step}`];
  return { commit: await commitTree(mirror, tree, [parent], words, trailers), tree };
}

function jobTrailers({ job, step, plan, incarnation }: EffectWords): string[] {
  const more = incarnation === undefined ? [] : [`Verbatim-Incarnation: ${incarnation}`];
  return [`Verbatim-Job: ${job}`, `Verbatim-Step: ${step}`, `Verbatim-Plan: ${plan}`, ...more];
}

async function commitTree(
  mirror: Mirror,
  tree: string,
  parents: readonly string[],
  words: Pick<CommitWords, "time" | "subject">,
  trailers: readonly string[],
): Promise<string> {
  const date = `@${Math.floor(Date.parse(words.time) / 1000)} +0000`;
  const env = {
    GIT_AUTHOR_NAME: PERSON.NAME,
    GIT_AUTHOR_EMAIL: PERSON.EMAIL,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: PERSON.NAME,
    GIT_COMMITTER_EMAIL: PERSON.EMAIL,
    GIT_COMMITTER_DATE: date,
  };
  const text = `${toSubject(words.subject)}\n\n${trailers.map((line) => line.replace(BREAKS, " ")).join("\n")}\n`;
  const on = parents.flatMap((parent) => ["-p", parent]);
  return toText(await mirror.git(["commit-tree", tree, ...on], { env, stdin: encodeUtf8(text) }));
}

function toSubject(intent: string): string {
  const line = intent.toWellFormed().replace(BREAKS, " ").trim();
  const cut = [...line].slice(0, MOST_SUBJECT).join("").trim();
  return cut === "" ? "Verbatim" : cut;
}

async function store(mirror: Mirror, bytes: Uint8Array): Promise<string> {
  return toText(await mirror.git(["hash-object", "-w", "-t", "blob", "--stdin", "--no-filters"], { stdin: bytes }));
}

/** A path of the repository that is none of git's own. */
function requirePath(path: string): void {
  parseRepoPath(path);
  if (!path.split("/").some(isGitName)) return;
  throw new VerbatimError("INTERNAL", { message: `a result names ${JSON.stringify(path)}, which belongs to git` });
}

function byOrder(a: FileChange, b: FileChange): number {
  return Number(a.bytes !== null) - Number(b.bytes !== null) || compareCodePoints(a.path, b.path);
}

function toText(answer: Buffer): string {
  return answer.toString("utf8").trim();
}
