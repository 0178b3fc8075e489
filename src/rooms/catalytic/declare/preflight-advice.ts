import { GUARD_REQUESTS } from "../../../core/contracts/guards.ts";
import { foldPath } from "../../../core/paths/index.ts";
import type { PathLook } from "../ports.ts";
import { containsOrInside, findLexicalCode, hasGitComponent, normalizePath } from "./path-rules.ts";
import { ALWAYS_FORBIDDEN, CMP01, type PointedError, type Policy } from "./policy.ts";

/** A problem as a person reads it: what and where, then what to do. */
interface PathProblem {
  readonly code: string;
  readonly pointer: string;
  readonly message: string;
}

/** What each rule of a field says, for fields whose value broke it. */
const FIELD_RULES: Readonly<Record<string, string>> = {
  schema_version: 'must be "cmp01-jobspec-1"',
  run_id: "must be 1 to 64 characters from a-z, 0-9, _ and -, starting with a letter or digit",
  job_id: "must be 1 to 128 characters from a-z, 0-9, _ and -, starting with a letter or digit",
  intent: "must be one line of 1 to 500 characters, not blank",
  determinism: "must be deterministic, bounded_nondeterministic or nondeterministic",
  catalytic_domains: "must be a list of 1 to 64 paths",
  durable_output_roots: "must be a list of at most 64 paths",
  outputs: 'must be {"durable_paths": [at most 1024 paths]}',
  command: "must be a list of 1 to 4096 words without NUL, at most 1 MiB in all, and the first must not be empty",
  cwd: "must be a path below the root",
  env: 'must be {"allow": [names], "set": {name: value}}; names are letters, digits and _, never VERBATIM_*',
  inputs: "must be a list of at most 1024 paths",
  timeout_ms: "must be a whole number from 1 to 86400000",
  expected_exit_codes: "must be a list of 1 to 256 whole numbers from 0 to 255",
  guard: `must be ${GUARD_REQUESTS.slice(0, -1).join(", ")} or ${GUARD_REQUESTS.at(-1)}`,
  network: "must be none or inherit",
  memo: "must be true or false; true needs determinism deterministic",
  strict_mtime: "must be true or false",
  view: "must be true or false",
  skill: 'must be null or {"declaration": "read_only", "catalytic" or "writer"} with "path" and "manifest_sha256"',
  previous_proof_hash: "must be null or 64 lower-case hex digits",
  metadata: "must be a JSON object of at most 16 KiB with whole numbers only",
};

/** Says for every field of a JobSpec that is wrong what its rule is. */
export function explainFields(errors: readonly PointedError[]): PathProblem[] {
  return errors.map(({ code, pointer }) => {
    const field = pointer.split("/")[1] ?? "";
    const rule = pointer === "" ? "must be a JSON object" : (FIELD_RULES[field] ?? "there is no such field");
    return { code, pointer, message: rule };
  });
}

interface Declared {
  readonly run_id: string;
  readonly command: readonly string[];
  readonly catalytic_domains: readonly string[];
  readonly durable_output_roots: readonly string[];
  readonly outputs: { readonly durable_paths: readonly string[] };
  readonly inputs: readonly string[];
  readonly cwd: string;
}

/** Says for every path that was refused what is wrong with it and what would be right. */
export function explainPaths(
  errors: readonly PointedError[],
  declared: Declared,
  policy: Policy,
  disk: PathLook | null = null,
): PathProblem[] {
  return errors.map((error) => {
    const path = pathAt(error.pointer, declared);
    const message = (disk === null ? null : explainOnDisk(error, path, disk)) ?? explain(error, path, declared, policy);
    return { code: error.code, pointer: error.pointer, message };
  });
}

/** What only a look at the disk can tell: which component it is, where it leads, what is there instead. */
function explainOnDisk({ code }: PointedError, path: string, disk: PathLook): string | null {
  const shown = JSON.stringify(path);
  const parts = normalizePath(path).split("/");
  const places = parts.map((_, i) => parts.slice(0, i + 1).join("/"));
  if (code === "PATH_THROUGH_SYMLINK" || code === "PATH_ESCAPES_REPO_ROOT") {
    const link = places.find((place) => disk.kind(place) === "symlink");
    if (link === undefined) return null;
    const { inside } = disk.realPlace(link);
    const target = inside === null ? "points outside the repository" : `points to ${JSON.stringify(inside || ".")}`;
    return `${shown}: ${JSON.stringify(link)} is a link that ${target}; declare the real directory`;
  }
  if (code === "PATH_NOT_A_DIRECTORY") {
    const other = places.find((place) => disk.kind(place) !== "dir");
    return other === undefined ? null : `${shown}: ${JSON.stringify(other)} exists and is not a directory`;
  }
  if (code !== "INPUT_MISSING" && code !== "CWD_MISSING") return null;
  if (disk.realPlace(path).exists) return `${shown} exists and is not a directory`;
  const nearest = places.findLast((place) => disk.realPlace(place).exists) ?? ".";
  return `${shown} does not exist; the nearest existing path is ${JSON.stringify(nearest)}`;
}

function pathAt(pointer: string, declared: Declared): string {
  const [, list = "", ...rest] = pointer.split("/");
  const index = Number(rest.at(-1));
  switch (list) {
    case "catalytic_domains":
      return declared.catalytic_domains[index] ?? "";
    case "durable_output_roots":
      return declared.durable_output_roots[index] ?? "";
    case "outputs":
      return declared.outputs.durable_paths[index] ?? "";
    case "inputs":
      return declared.inputs[index] ?? "";
    case "command":
      return declared.command[0] ?? "";
    case "run_id":
      return declared.run_id;
    default:
      return declared.cwd;
  }
}

function explain(error: PointedError, path: string, declared: Declared, policy: Policy): string {
  const shown = JSON.stringify(path);
  switch (error.code) {
    case "PATH_EMPTY":
      return "the path is empty; write a relative path with /";
    case "PATH_INVALID":
      return `${shown} contains a control character or half of a surrogate pair; write a relative path with /`;
    case "PATH_TOO_LONG":
      return `${JSON.stringify(path.slice(0, 60))}... is longer than 4096 bytes, or has a name longer than 255`;
    case "PATH_ABSOLUTE":
    case "PATH_BACKSLASH":
    case "PATH_CONTAINS_TRAVERSAL":
      return `${shown}: write paths relative to the repository root, with / and without ..${suggest(path)}`;
    case "FORBIDDEN_PATH_OVERLAP":
      return `${shown} overlaps ${nameForbidden(path, policy)}; choose another path`;
    case "RESERVED_PATH_OVERLAP":
      return `${shown} would be in a run directory of ${policy.runs_root}, or next to them under a guard that cannot keep the command away from the others; choose a folder outside the runs, or a namespace guard`;
    case "CATALYTIC_OUTSIDE_ROOT":
      return `${shown} is not in a catalytic root (${list(policy.catalytic_roots)}); ${widen(policy)}`;
    case "OUTPUT_OUTSIDE_DURABLE_ROOT":
      return `${shown} is not in a durable root (${list(policy.durable_roots)}); ${widen(policy)}`;
    case "OUTPUT_OUTSIDE_DECLARED_ROOT":
      return `${shown} is not in a declared output root (${list(declared.durable_output_roots)}); add --out-root`;
    case "OUTPUT_IN_CATALYTIC_ROOT":
      return `${shown} overlaps a catalytic root (${list(policy.catalytic_roots)}), which is restored: the output would disappear`;
    case "PATH_OVERLAP":
      return `${shown} and ${error.with ?? ""} overlap; drop the inner one`;
    case "PATH_ESCAPES_REPO_ROOT":
      return `${shown} leaves the repository through a link; declare the real directory`;
    case "PATH_THROUGH_SYMLINK":
      return `${shown} goes through a link; declare the real directory`;
    case "PATH_NOT_A_DIRECTORY":
      return `part of ${shown} exists and is not a directory`;
    case "INPUT_MISSING":
    case "CWD_MISSING":
      return `${shown} does not exist`;
    case "COMMAND_NOT_FOUND":
      return `${shown} is not an executable file on the PATH that the command gets`;
    case "RUN_ID_EXISTS":
      return `a run ${path} already exists; choose another run id`;
    case "VIEW_DOMAIN_INVALID":
      return 'a view must have exactly the domain "."';
    case "VIEW_HAS_OUTPUTS":
      return "a view cannot have outputs; its changes are returned as data";
    default:
      return shown;
  }
}

const list = (roots: readonly string[]): string => (roots.length === 0 ? "there is none" : roots.join(", "));

function widen(policy: Policy): string {
  return policy.profile === "cmp-01" ? "use one of them" : "use one, or add a root to verbatim.config.json";
}

/** The path as it would be written, where that is clear. */
function suggest(path: string): string {
  const relative = normalizePath(path.replaceAll("\\", "/").replace(/^[A-Za-z]:/, ""));
  const isClear = relative !== "" && findLexicalCode(relative) === null && path.includes("\\");
  return isClear ? `; write ${relative}` : "";
}

function nameForbidden(path: string, policy: Policy): string {
  const normal = normalizePath(path);
  if (normal === "") return "the repository root itself";
  if (hasGitComponent(normal)) return "a git folder (always forbidden)";
  const root = policy.forbidden_roots.find((one) => containsOrInside(foldPath(normal), foldPath(one)));
  if (root === undefined) return "a forbidden path through a link";
  const always = (ALWAYS_FORBIDDEN as readonly string[]).includes(root);
  const fixed = policy.profile === "cmp-01" && (CMP01.forbidden_roots as readonly string[]).includes(root);
  return `${root} (${always ? "always forbidden" : fixed ? "forbidden by the profile" : "forbidden by the configuration"})`;
}
