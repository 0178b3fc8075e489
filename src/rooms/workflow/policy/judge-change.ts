import { compareCodePoints } from "../../../core/canonical/index.ts";
import { findPathProblem, foldName } from "../../../core/paths/index.ts";
import { coversExactly, listScopeRules, type Scope } from "../artifacts/scope.ts";
import type { CandidateFile } from "../contracts/candidate.ts";
import { formatArgv } from "../dispatch/argv-template.ts";
import type { AgentPolicy } from "./agent-policy.ts";
import { LOCK_FILES } from "./default-policy.ts";
import { isForbiddenName } from "./forbidden-name.ts";
import { findLinkProblem } from "./link-target.ts";
import { findSecret } from "./secret-patterns.ts";

/** A rule that a change breaks, and what a person can do about it. */
export interface PolicyFinding {
  readonly code: "POLICY_NEVER" | "PATCH_SCOPE_DENY" | "POLICY_PROTECTED" | "POLICY_SECRET" | "POLICY_LIMIT";
  readonly rule: string;
  readonly path?: string;
  /** The line of the file after the change. */
  readonly line?: number;
  /** A whole sentence without its full stop. */
  readonly says: string;
  /** The flag that lifts it, as it is typed; null: there is none. */
  readonly flag: string | null;
  /** What to do, as it is printed after the sentence. */
  readonly fix: string;
}

/** A line that a change adds, by its number in the file after it. */
export interface AddedLine {
  readonly line: number;
  readonly text: string;
}

/** What the agent left that no candidate carries, and that must be refused aloud. */
export interface SpecialFile {
  readonly path: string;
  readonly what: "special_file" | "setuid";
}

export interface ChangeToJudge {
  readonly files: readonly CandidateFile[];
  readonly added: ReadonlyMap<string, readonly AddedLine[]>;
  readonly special: readonly SpecialFile[];
  /** `--allow` and `--deny`; null: everything. */
  readonly scope: Scope | null;
  readonly policy: AgentPolicy;
}

/** How large a change is. Lock files are counted apart. */
export interface ChangeSize {
  readonly files: number;
  readonly added_lines: number;
  readonly lock_files: number;
  readonly lock_lines: number;
  readonly carried_bytes: number;
}

/** Every rule of the policy that a change breaks: never, scope, protected, secret, numbers, content, in this order. */
export function judgeChange(change: ChangeToJudge): PolicyFinding[] {
  const { files, policy } = change;
  const paths = [...new Set(files.map(({ path }) => path))].sort(compareCodePoints);
  return [
    ...change.special.map(toSpecial),
    ...files.flatMap(findNever),
    ...paths.flatMap((path) => findOutOfScope(path, change.scope, policy.roots)),
    ...paths.flatMap((path) => findProtected(path, policy)),
    ...paths.flatMap((path) => findSecretPath(path, policy)),
    ...findTooLarge(files, policy),
    ...paths.flatMap((path) => findSecretLines(path, change.added.get(path) ?? [], policy)),
  ];
}

/** What the policy says of a path by its name alone, before anything is in it. */
export function judgePath(path: string, policy: AgentPolicy): PolicyFinding[] {
  return [...findProtected(path, policy), ...findSecretPath(path, policy)];
}

/** A finding as people read it. */
export function describeFinding({ says, fix }: Pick<PolicyFinding, "says" | "fix">): string {
  return `${says}. ${fix}`;
}

const NAMES = new Set(LOCK_FILES.map(foldName));

/** Whether a path is a file that a package manager writes. */
function isLockFile(path: string): boolean {
  return NAMES.has(foldName(path.slice(path.lastIndexOf("/") + 1)));
}

/** The numbers that the limits are held against. */
export function measureChange(files: readonly CandidateFile[]): ChangeSize {
  const locks = files.filter(({ path }) => isLockFile(path));
  const others = files.filter(({ path }) => !isLockFile(path));
  const lines = (some: readonly CandidateFile[]) => some.reduce((sum, { added }) => sum + added, 0);
  return {
    files: new Set(others.map(({ path }) => path)).size,
    added_lines: lines(others),
    lock_files: new Set(locks.map(({ path }) => path)).size,
    lock_lines: lines(locks),
    carried_bytes: files.filter(isCarried).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** What travels whole. The mode of a text is in the patch. */
function isCarried({ kind, hunks }: CandidateFile): boolean {
  return kind === "binary" || kind === "link" || (kind === "mode" && hunks === undefined);
}

function never(path: string, rule: string, says: string): PolicyFinding {
  const fix = `There is no flag for it. Leave it out: ${flag("--leave-out", path)}`;
  return { code: "POLICY_NEVER", rule, path, says: `${path} ${says}`, flag: null, fix };
}

function toSpecial({ path, what }: SpecialFile): PolicyFinding {
  const says = what === "setuid" ? "would run with the rights of its owner" : "is neither a file, a folder nor a link";
  return never(path, what, says);
}

function findNever({ path, kind, target, operation }: CandidateFile): PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const forbidden = path.split("/").find(isForbiddenName);
  if (forbidden !== undefined) {
    findings.push(never(path, "forbidden_name", `is in ${forbidden}, which no agent may change`));
  }
  if (findPathProblem(path) !== null || /[\x00-\x1f\x7f]/.test(path)) {
    findings.push(never(JSON.stringify(path), "name", "has a name that cannot be used on every system"));
  }
  const problem = kind === "link" && operation !== "delete" ? findLinkProblem(path, target ?? "") : null;
  if (problem !== null) findings.push(never(path, "link", `is a link that ${problem}`));
  return findings;
}

function findOutOfScope(path: string, scope: Scope | null, roots: readonly string[]): PolicyFinding[] {
  const rules: string[] = scope === null ? [] : listScopeRules(scope, path);
  if (!roots.some((root) => coversExactly(root.replace(/^\.\/|\/+$/g, "") || ".", path))) rules.push("allow_roots");
  return rules.map((rule) => {
    if (rule === "scope_deny") {
      const fix = "Start the run without that --deny, or leave it out.";
      return { code: "PATCH_SCOPE_DENY", rule, path, says: `${path} is denied by --deny`, flag: null, fix };
    }
    const lifts = rule === "scope_allow" ? flag("--allow", path) : null;
    return {
      code: "PATCH_SCOPE_DENY",
      rule,
      path,
      says: rule === "scope_allow" ? `${path} is outside of --allow` : `${path} is outside of agent.patch.allow_roots`,
      flag: lifts,
      fix: lifts === null ? "Add its folder to agent.patch.allow_roots." : `Allow it: ${lifts}`,
    };
  });
}

function permit(code: "POLICY_PROTECTED" | "POLICY_SECRET", rule: string, path: string, says: string): PolicyFinding {
  const lifts = flag("--permit", path);
  return { code, rule, path, says, flag: lifts, fix: `Allow it: ${lifts}` };
}

function findProtected(path: string, policy: AgentPolicy): PolicyFinding[] {
  const why = policy.findProtection(path);
  if (why === null || policy.isPermitted(path)) return [];
  return [permit("POLICY_PROTECTED", "protected", path, `${path} is protected: ${why}`)];
}

function findSecretPath(path: string, policy: AgentPolicy): PolicyFinding[] {
  const why = policy.findSecrecy(path);
  if (why === null || policy.isPermitted(path)) return [];
  return [permit("POLICY_SECRET", "secret_path", path, `${path} is not to be changed: ${why}`)];
}

function findTooLarge(files: readonly CandidateFile[], { limits }: AgentPolicy): PolicyFinding[] {
  const size = measureChange(files);
  const limit = (rule: string, says: string, lifts: string | null, fix: string, path?: string): PolicyFinding => {
    return { code: "POLICY_LIMIT", rule, ...(path === undefined ? {} : { path }), says, flag: lifts, fix };
  };
  const raise = (lifts: string) => `Allow it: ${lifts}`;
  const findings: PolicyFinding[] = [];
  if (size.files > limits.max_files) {
    const lifts = `--max-files ${size.files}`;
    const says = `the change has ${size.files} files, and ${limits.max_files} are allowed`;
    findings.push(limit("max_files", says, lifts, raise(lifts)));
  }
  if (size.added_lines > limits.max_added_lines) {
    const lifts = `--max-added-lines ${size.added_lines}`;
    const says = `the change adds ${size.added_lines} lines, and ${limits.max_added_lines} are allowed`;
    findings.push(limit("max_added_lines", says, lifts, raise(lifts)));
  }
  for (const { path, bytes } of files.filter(isCarried)) {
    if (bytes <= limits.max_binary_bytes) continue;
    const lifts = `--max-binary ${bytes}`;
    const says = `${path} has ${bytes} bytes, and a file that travels whole may have ${limits.max_binary_bytes}`;
    findings.push(limit("max_binary_bytes", says, lifts, raise(lifts), path));
  }
  if (size.carried_bytes > limits.max_carried_bytes) {
    const says = `the files that travel whole have ${size.carried_bytes} bytes together, and ${limits.max_carried_bytes} are allowed`;
    const fix = `Set agent.policy.max_carried_bytes to ${size.carried_bytes}, or leave some out with --leave-out.`;
    findings.push(limit("max_carried_bytes", says, null, fix));
  }
  return findings;
}

/** One finding for each kind of credential in a file, at its first line. */
function findSecretLines(path: string, lines: readonly AddedLine[], policy: AgentPolicy): PolicyFinding[] {
  if (policy.isPermitted(path)) return [];
  const found = new Map<string, PolicyFinding>();
  for (const { line, text } of lines) {
    const secret = findSecret(text);
    if (secret === null || found.has(secret.name)) continue;
    const says = `${path}:${line} adds what looks like a secret: ${secret.shown}`;
    found.set(secret.name, { ...permit("POLICY_SECRET", secret.name, path, says), line });
  }
  return [...found.values()];
}

function flag(name: string, path: string): string {
  return `${name} ${formatArgv([path])}`;
}
