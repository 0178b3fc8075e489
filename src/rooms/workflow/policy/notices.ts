import {
  compareCodePoints,
  formatCanonical,
  isJsonObject,
  type JsonValue,
  parseObject,
} from "../../../core/canonical/index.ts";
import { compilePathPattern, foldCase } from "../../../core/paths/index.ts";
import type { CandidateFile, CandidateNotice } from "../contracts/candidate.ts";
import { AGENT_DOCUMENTS, INSTALL_SCRIPTS, PACKAGE_LOCKS, VERIFY_FILES } from "./default-policy.ts";

/** A package.json before and after; null: not there. */
export interface ManifestChange {
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
}

export interface NoticeRequest {
  readonly files: readonly CandidateFile[];
  /** Each changed package.json. */
  readonly manifests: ReadonlyMap<string, ManifestChange>;
  /** The words of every verify and set-up command. */
  readonly commands: readonly (readonly string[])[];
  /** Whether the base has a file of that path. */
  hasFile(path: string): boolean;
}

/** What is said of a file that somebody should look at. */
export const NOTICES = {
  tells_agents: "tells later agents what to do",
  runs_on_install: "runs on install",
  decides_verification: "decides how the change is verified",
  lock_unchanged: "package.json changed but its lock file did not",
} as const;

const compile = (patterns: readonly string[]) => {
  const all = patterns.map((pattern) => compilePathPattern(pattern, { fold: true }));
  return (path: string) => all.some((pattern) => pattern.matches(path));
};
const tellsAgents = compile(AGENT_DOCUMENTS);
const decides = compile(VERIFY_FILES);

/** What a person should look at before the change lands, although it is allowed; by path. */
export function listNotices(request: NoticeRequest): CandidateNotice[] {
  const named = new Set(request.commands.flat().flatMap(toNames).map(foldCase));
  const paths = [...new Set(request.files.map(({ path }) => path))].sort(compareCodePoints);
  const changed = new Set(paths);
  return paths.flatMap((path) => {
    const manifest = request.manifests.get(path);
    const facts = manifest === undefined ? null : compareManifest(manifest);
    const rules: CandidateNotice["rule"][] = [];
    if (tellsAgents(path)) rules.push("tells_agents");
    if (facts?.install === true) rules.push("runs_on_install");
    if (decides(path) || named.has(foldCase(path)) || facts?.scripts === true) rules.push("decides_verification");
    if (facts?.dependencies === true && isLockLeftBehind(path, changed, request.hasFile)) rules.push("lock_unchanged");
    return rules.map((rule) => ({ path, rule, says: NOTICES[rule] }));
  });
}

/** What a word of a command may name: itself, and what follows an equals sign. */
function toNames(word: string): string[] {
  const value = word.slice(word.indexOf("=") + 1);
  return [word, value].map((name) => name.replace(/^(?:\.\/)+/, ""));
}

function compareManifest({ before, after }: ManifestChange) {
  const [old, next] = [parseObject(before), parseObject(after)];
  const isNew = (key: string) => toText(old?.[key]) !== toText(next?.[key]);
  const scripts = { old: objectOf(old?.["scripts"]), next: objectOf(next?.["scripts"]) };
  return {
    scripts: isNew("scripts"),
    install: INSTALL_SCRIPTS.some(
      (name) => scripts.next[name] !== undefined && toText(scripts.next[name]) !== toText(scripts.old[name]),
    ),
    dependencies: ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides"].some(
      isNew,
    ),
  };
}

type Members = Readonly<Record<string, JsonValue>>;

function objectOf(value: JsonValue | undefined): Members {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function toText(value: JsonValue | undefined): string {
  return formatCanonical(value ?? null);
}

/** The nearest lock file, next to the package.json or above it, is there and not part of the change. */
function isLockLeftBehind(path: string, changed: ReadonlySet<string>, hasFile: (path: string) => boolean): boolean {
  const parts = path.split("/").slice(0, -1);
  for (let depth = parts.length; depth >= 0; depth--) {
    const places = PACKAGE_LOCKS.map((name) => [...parts.slice(0, depth), name].join("/"));
    if (places.some((place) => changed.has(place))) return false;
    if (places.some(hasFile)) return true;
  }
  return false;
}
