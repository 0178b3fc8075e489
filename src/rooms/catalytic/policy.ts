import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedUnique,
  toPointerToken,
} from "../../core/canonical/index.ts";
import { containsOrInside, findLexicalCode, foldPath, hasGitComponent, isInside, normalizePath } from "./path-rules.ts";
import { GUARD_REQUESTS, type GuardRequest, type NetworkMode } from "./words.ts";

/** The roots a run is judged by, as POLICY.json keeps them. */
export interface Policy {
  readonly schema_version: "cmp01-policy-1";
  readonly profile: "standard" | "cmp-01";
  readonly runs_root: string;
  readonly durable_roots: readonly string[];
  readonly catalytic_roots: readonly string[];
  readonly forbidden_roots: readonly string[];
}

export interface TripwireSettings {
  readonly on_hit: "fail" | "report";
  readonly max_entries: number;
  readonly noise: readonly string[];
}

export interface Limits {
  readonly max_entries: number;
  readonly stage_copy_bytes: number;
  readonly log_bytes: number;
  readonly quarantine_bytes: number;
}

/** Everything else the configuration says about catalytic runs. */
export interface Settings {
  readonly guard: GuardRequest;
  readonly network: NetworkMode;
  readonly memo: boolean;
  readonly tripwire: TripwireSettings;
  readonly limits: Limits;
  readonly signing: { readonly key_file: string | null; readonly pinned_keys: readonly string[] } | null;
  readonly writer_skills: "warn" | "deny";
}

/** A coded problem at a JSON pointer. */
export interface PointedError {
  readonly code: string;
  readonly pointer: string;
  readonly with?: string;
}

export interface PolicyReading {
  readonly policy: Policy | null;
  readonly settings: Settings;
  readonly errors: readonly PointedError[];
}

export const DEFAULT_SETTINGS: Settings = {
  guard: "auto",
  network: "inherit",
  memo: false,
  tripwire: {
    on_hit: "fail",
    max_entries: 250_000,
    noise: [".git/index", ".git/index.lock", ".git/FETCH_HEAD"],
  },
  limits: {
    max_entries: 500_000,
    stage_copy_bytes: 1024 ** 3,
    log_bytes: 16 * 1024 ** 2,
    quarantine_bytes: 1024 ** 3,
  },
  signing: null,
  writer_skills: "warn",
};

/** Roots that no configuration can make writable. */
export const ALWAYS_FORBIDDEN = [".git", ".verbatim", "verbatim.config.json"] as const;

const STANDARD = {
  runs_root: ".verbatim/runs",
  durable_roots: [".verbatim/out"],
  catalytic_roots: [".verbatim/scratch"],
};

/** CMP-01, Canonical Path Constants. */
export const CMP01 = {
  runs_root: "LAW/CONTRACTS/_runs",
  durable_roots: ["LAW/CONTRACTS/_runs", "MEMORY/LLM_PACKER/_packs", "NAVIGATION/CORTEX/_generated"],
  catalytic_roots: [
    "CAPABILITY/PRIMITIVES/_scratch",
    "LAW/CONTRACTS/_runs/_tmp",
    "MEMORY/LLM_PACKER/_packs/_tmp",
    "NAVIGATION/CORTEX/_generated/_tmp",
    "THOUGHT/LAB/_tmp",
  ],
  forbidden_roots: ["LAW/CANON", "AGENTS.md", "BUILD"],
} as const;

const KEYS = [
  "profile",
  "runs_root",
  "durable_roots",
  "catalytic_roots",
  "forbidden_roots",
  "guard",
  "network",
  "memo",
  "tripwire",
  "limits",
  "signing",
  "writer_skills",
] as const;

const OWN_PLACES = [".verbatim/runs", ".verbatim/out", ".verbatim/scratch"];

/** The effective policy of the `catalytic` object of a configuration, or every reason why there is none. */
export function effectivePolicy(config: JsonValue): PolicyReading {
  const errors: PointedError[] = [];
  const fail = (code: string, pointer: string) => void errors.push({ code, pointer: `/catalytic${pointer}` });
  if (!isJsonObject(config)) {
    fail("CONFIG_INVALID", "");
    return { policy: null, settings: DEFAULT_SETTINGS, errors };
  }
  for (const key of Object.keys(config)) {
    if (!(KEYS as readonly string[]).includes(key)) fail("CONFIG_INVALID", `/${toPointerToken(key)}`);
  }
  const settings = readSettings(config, fail);
  const profile = config["profile"] === undefined ? "standard" : config["profile"];
  if (profile !== "standard" && profile !== "cmp-01") {
    fail("CONFIG_INVALID", "/profile");
    return { policy: null, settings, errors };
  }
  const policy = readRoots(config, profile, fail);
  return { policy: errors.length === 0 ? policy : null, settings, errors };
}

type Fail = (code: string, pointer: string) => void;

function readRoots(config: JsonObject, profile: "standard" | "cmp-01", fail: Fail): Policy {
  const fixed = profile === "cmp-01";
  if (fixed) {
    for (const key of ["runs_root", "durable_roots", "catalytic_roots"]) {
      if (Object.hasOwn(config, key)) fail("CONFIG_PROFILE_FIXED", `/${key}`);
    }
  }
  const base = fixed ? CMP01 : STANDARD;
  const own = readPaths(config["forbidden_roots"], "/forbidden_roots", fail) ?? [];
  const forbidden = sortedUnique([
    ...ALWAYS_FORBIDDEN,
    ...(fixed ? CMP01.forbidden_roots : []),
    ...own.map(normalizePath),
  ]);
  const given = (key: "durable_roots" | "catalytic_roots") =>
    (fixed ? null : readPaths(config[key], `/${key}`, fail)) ?? [...base[key]];
  const durable = given("durable_roots");
  const catalytic = given("catalytic_roots");
  const runs = fixed ? base.runs_root : readPath(config["runs_root"], base.runs_root, fail);
  if (!fixed) {
    const judge = (path: string, pointer: string, mayPersist: boolean) => {
      if (path === "\0") return;
      const root = normalizePath(path);
      if (isForbiddenRoot(root, forbidden)) fail("CONFIG_ROOT_FORBIDDEN", pointer);
      else if (mayPersist && catalytic.some((one) => one !== "\0" && isInside(root, normalizePath(one)))) {
        fail("CONFIG_ROOT_CONFLICT", pointer);
      }
    };
    durable.forEach((path, i) => void judge(path, `/durable_roots/${i}`, true));
    catalytic.forEach((path, i) => void judge(path, `/catalytic_roots/${i}`, false));
    judge(runs, "/runs_root", true);
  }
  return {
    schema_version: "cmp01-policy-1",
    profile,
    runs_root: normalizePath(runs),
    durable_roots: sortedUnique(durable.map(normalizePath)),
    catalytic_roots: sortedUnique(catalytic.map(normalizePath)),
    forbidden_roots: forbidden,
  };
}

function isForbiddenRoot(root: string, forbidden: readonly string[]): boolean {
  if (OWN_PLACES.some((place) => isInside(root, place))) return false;
  if (root === "" || hasGitComponent(root)) return true;
  const folded = foldPath(root);
  return forbidden.some((one) => containsOrInside(folded, foldPath(one)));
}

// A path that broke a lexical rule becomes a NUL, which no later rule looks at.
function readPath(value: JsonValue | undefined, fallback: string, fail: Fail): string {
  if (value === undefined) return fallback;
  return readOne(value, "/runs_root", fail);
}

function readPaths(value: JsonValue | undefined, pointer: string, fail: Fail): string[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) {
    fail("CONFIG_INVALID", pointer);
    return [];
  }
  return value.map((item: JsonValue, i) => readOne(item, `${pointer}/${i}`, fail));
}

function readOne(value: JsonValue, pointer: string, fail: Fail): string {
  const code = typeof value === "string" ? findLexicalCode(value) : "CONFIG_INVALID";
  if (code === null) return value as string;
  fail(code, pointer);
  return "\0";
}

function readSettings(config: JsonObject, fail: Fail): Settings {
  const choose = <T extends string>(key: string, allowed: readonly T[], fallback: T): T => {
    const value = config[key];
    if (value === undefined) return fallback;
    if ((allowed as readonly unknown[]).includes(value)) return value as T;
    fail("CONFIG_INVALID", `/${key}`);
    return fallback;
  };
  const memo = config["memo"];
  if (memo !== undefined && typeof memo !== "boolean") fail("CONFIG_INVALID", "/memo");
  return {
    guard: choose("guard", GUARD_REQUESTS, "auto"),
    network: choose("network", ["none", "inherit"], "inherit"),
    memo: memo === true,
    tripwire: readTripwire(config["tripwire"], fail),
    limits: readLimits(config["limits"], fail),
    signing: readSigning(config["signing"], fail),
    writer_skills: choose("writer_skills", ["warn", "deny"], "warn"),
  };
}

function members(value: JsonValue, pointer: string, names: readonly string[], fail: Fail): JsonObject {
  if (!isJsonObject(value)) {
    fail("CONFIG_INVALID", pointer);
    return {};
  }
  for (const key of Object.keys(value)) {
    if (!names.includes(key)) fail("CONFIG_INVALID", `${pointer}/${toPointerToken(key)}`);
  }
  return value;
}

function readCount(value: JsonValue | undefined, pointer: string, fallback: number, fail: Fail): number {
  if (value === undefined) return fallback;
  const least = pointer.endsWith("entries") ? 1 : 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  fail("CONFIG_INVALID", pointer);
  return fallback;
}

function readTripwire(value: JsonValue | undefined, fail: Fail): TripwireSettings {
  const usual = DEFAULT_SETTINGS.tripwire;
  if (value === undefined) return usual;
  const object = members(value, "/tripwire", ["on_hit", "max_entries", "noise"], fail);
  const onHit = object["on_hit"];
  if (onHit !== undefined && onHit !== "fail" && onHit !== "report") fail("CONFIG_INVALID", "/tripwire/on_hit");
  return {
    on_hit: onHit === "report" ? "report" : "fail",
    max_entries: readCount(object["max_entries"], "/tripwire/max_entries", usual.max_entries, fail),
    noise: (readPaths(object["noise"], "/tripwire/noise", fail) ?? usual.noise).map(normalizePath),
  };
}

function readLimits(value: JsonValue | undefined, fail: Fail): Limits {
  const usual = DEFAULT_SETTINGS.limits;
  if (value === undefined) return usual;
  const object = members(value, "/limits", Object.keys(usual), fail);
  const read = (key: keyof Limits) => readCount(object[key], `/limits/${key}`, usual[key], fail);
  return {
    max_entries: read("max_entries"),
    stage_copy_bytes: read("stage_copy_bytes"),
    log_bytes: read("log_bytes"),
    quarantine_bytes: read("quarantine_bytes"),
  };
}

function readSigning(value: JsonValue | undefined, fail: Fail): Settings["signing"] {
  if (value === undefined) return null;
  const object = members(value, "/signing", ["key_file", "pinned_keys"], fail);
  const keyFile = object["key_file"];
  if (keyFile !== undefined && (typeof keyFile !== "string" || keyFile === ""))
    fail("CONFIG_INVALID", "/signing/key_file");
  const pinned = object["pinned_keys"] === undefined ? [] : object["pinned_keys"];
  const keys = Array.isArray(pinned) ? (pinned as readonly JsonValue[]) : [];
  if (!Array.isArray(pinned)) fail("CONFIG_INVALID", "/signing/pinned_keys");
  keys.forEach((key, i) => {
    if (typeof key !== "string" || !/^[0-9a-f]{64}$/.test(key)) fail("CONFIG_INVALID", `/signing/pinned_keys/${i}`);
  });
  return {
    key_file: typeof keyFile === "string" ? keyFile : null,
    pinned_keys: keys.filter((key): key is string => typeof key === "string"),
  };
}
