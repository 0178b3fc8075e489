import { resolve } from "node:path";
import { z } from "zod";
import { parseJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showLine } from "../../../core/text/index.ts";
import { evaluateTrust, parsePolicy, type TrustPolicy } from "../../../core/trust/index.ts";
import { type CheckedCommit, checkCommit, escapeData, type History } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { count } from "../report/explain-words.ts";

const MOST_POLICY = 1024 * 1024;

const checkedCommit = z.strictObject({
  commit: z.string(),
  subject: z.string(),
  by: z.enum(["agent", "people"]).describe("Whether its message names a run."),
  run: z.string().nullable(),
  ok: z.boolean(),
  code: z.string().nullable().describe("Why it does not hold: CHECK_NOTE_MISSING, CHECK_UNTRUSTED and so on."),
  says: z.string(),
  signed_by: z.array(z.string()).describe("Names of the trusted keys that signed for it."),
});

export const checked = z.strictObject({
  ok: z.boolean(),
  range: z.string(),
  policy: z.string().describe("Where the trust policy was read."),
  commits: z.array(checkedCommit).describe("The oldest first."),
  report: z.string().describe("The same in the chosen format."),
});

export type Checked = z.infer<typeof checked>;

interface CheckRequest {
  readonly range: string;
  readonly trust: string;
  readonly requireAll: boolean;
  readonly format: "text" | "github";
}

/**
 * Whether every commit of a range that names a run is what trusted keys vouch for. Objects and notes of git are all that
 * is read; the work tree, its settings and what Verbatim keeps have no say.
 */
export async function checkRange(outside: AgentPorts, request: CheckRequest): Promise<Checked> {
  const { history, crypto } = await outside.workflow("read");
  const { commits: names, base } = await findCommits(history, request.range);
  const { policy, place } = await readPolicy(outside, history, request.trust, base);
  // Under a policy without keys for agents nothing could pass, whatever the commits are.
  const { code } = await evaluateTrust(crypto, policy, "AGENT", null);
  if (code !== null && code !== "TRUST_UNSIGNED") throw new VerbatimError(code, { where: place });
  const commits: CheckedCommit[] = [];
  for (const [i, name] of names.entries()) {
    outside.progress.report({ label: "checking commits", done: i, total: names.length });
    const facts = await history.find(name);
    if (facts === null) throw new VerbatimError("CHECK_HISTORY_MISSING", { message: `the commit ${name} is not here` });
    commits.push(await checkCommit({ crypto, history }, { policy, requireAll: request.requireAll }, facts));
  }
  return {
    ok: commits.every(({ ok }) => ok),
    range: request.range,
    policy: place,
    commits: commits.map((one) => ({ ...one, signed_by: [...one.signed_by] })),
    report: request.format === "github" ? formatAnnotations(commits) : formatLines(commits),
  };
}

/** The commits of a range, and what they build on: what was agreed before they came. */
async function findCommits(
  history: History,
  range: string,
): Promise<{ readonly commits: readonly string[]; readonly base: string | null }> {
  const ends = /^(.*?)(\.{2,3})(.*)$/.exec(range);
  if (ends === null) {
    const facts = await history.find(range);
    if (facts === null) throw unknownRange(range);
    return { commits: [facts.commit], base: facts.parents[0] ?? null };
  }
  const [from, to] = [await history.find(ends[1] || "HEAD"), await history.find(ends[3] || "HEAD")];
  const commits = from === null || to === null ? null : await history.list(`${from.commit}${ends[2]}${to.commit}`);
  if (commits === null) throw unknownRange(range);
  if (commits.length === 0) {
    throw new VerbatimError("USAGE", {
      message: `${range} has no commits: the older end comes first`,
      where: "/range",
    });
  }
  const base = ends[2] === ".." ? from!.commit : await history.mergeBase(from!.commit, to!.commit);
  return { commits, base };
}

function unknownRange(range: string): VerbatimError {
  return new VerbatimError("CHECK_HISTORY_MISSING", {
    message: `git knows no commits called ${JSON.stringify(range)} here`,
    where: "/range",
    fix: {
      cli: "Give a commit or A..B. In a workflow the whole history must be there: fetch-depth: 0",
      others: "Give a commit or A..B, and fetch the whole history.",
    },
  });
}

/** A policy inside the repository is the one that the commits build on: they could have brought a key of their own. */
async function readPolicy(
  outside: AgentPorts,
  history: History,
  file: string,
  base: string | null,
): Promise<{ readonly policy: TrustPolicy; readonly place: string }> {
  const { crypto, files } = await outside.workflow("read");
  const inside = file === "-" ? null : history.inside(resolve(outside.start, file));
  if (inside === null) {
    return {
      policy: await parsePolicy(crypto, parseJson(await files.read(file, MOST_POLICY), { file }), file),
      place: file,
    };
  }
  const bytes = base === null ? null : await history.file(base, inside, MOST_POLICY);
  if (bytes === null) {
    const where = base === null ? "the commit has nothing before it" : `${base.slice(0, 12)} has no ${inside}`;
    throw new VerbatimError("FILE_NOT_FOUND", {
      message: `a trust policy inside the repository is read from what the commits build on, and ${where}`,
      where: file,
      fix: "Commit the policy first, or give one outside of the repository.",
    });
  }
  const place = `${base!.slice(0, 12)}:${inside}`;
  return { policy: await parsePolicy(crypto, parseJson(bytes, { file: place }), place), place };
}

function formatLines(commits: readonly CheckedCommit[]): string {
  const lines = commits.flatMap(({ commit, subject, by, ok, code, says, signed_by }) => {
    const mark = ok ? (by === "agent" || signed_by.length > 0 ? "✓" : "-") : "✗";
    const head = `${mark} ${commit.slice(0, 12)}  ${by}  ${showLine(subject)}`;
    if (by === "people" && ok && signed_by.length === 0) return [head];
    const who = signed_by.length === 0 ? "" : `; signed by ${signed_by.map((name) => showLine(name)).join(", ")}`;
    return [head, `    ${code === null ? "" : `${code}: `}${showLine(says)}${who}`];
  });
  return [...lines, summarize(commits), ""].join("\n");
}

/** GitHub workflow commands: an error for each commit that does not hold, and one line about all. */
function formatAnnotations(commits: readonly CheckedCommit[]): string {
  const errors = commits.flatMap(({ ok, commit, code, says }) =>
    ok ? [] : [`::error title=${code ?? "CHECK"}::${escapeData(`${commit.slice(0, 12)}: ${showLine(says)}`)}`],
  );
  return [...errors, summarize(commits), ""].join("\n");
}

function summarize(commits: readonly CheckedCommit[]): string {
  const bad = commits.filter(({ ok }) => !ok).length;
  const held = commits.filter(({ ok, signed_by }) => ok && signed_by.length > 0).length;
  const people = commits.length - bad - held;
  const rest = [
    held === 0 ? [] : [`${held} ${held === 1 ? "holds" : "hold"}`],
    people === 0 ? [] : [`${people} of people`],
    bad === 0 ? [] : [`${bad} ${bad === 1 ? "does" : "do"} not hold`],
  ].flat();
  return `${count(commits.length, "commit")}: ${rest.join(", ")}`;
}
