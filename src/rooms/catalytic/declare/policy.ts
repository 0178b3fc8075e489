import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedUnique,
  toPointerToken,
} from "../../../core/canonical/index.ts";
import { CATALYTIC_PROFILES, catalyticConfig } from "../../../core/contracts/config/index.ts";
import { foldPath, overlaps } from "../../../core/paths/index.ts";
import { type Fail, readOne, readPaths } from "./config-paths.ts";
import { hasGitComponent, isInside, normalizePath } from "./path-rules.ts";
import { DEFAULT_SETTINGS, readSettings, type Settings } from "./settings.ts";

/** The roots a run is judged by, as POLICY.json keeps them. */
export interface Policy {
  readonly schema_version: "cmp01-policy-1";
  readonly profile: "standard" | "cmp-01";
  readonly runs_root: string;
  readonly durable_roots: readonly string[];
  readonly catalytic_roots: readonly string[];
  readonly forbidden_roots: readonly string[];
}

/** A coded problem at a JSON pointer. */
export interface PointedError {
  readonly code: string;
  readonly pointer: string;
  readonly with?: string;
}

interface PolicyReading {
  readonly policy: Policy | null;
  readonly settings: Settings;
  readonly errors: readonly PointedError[];
}

/** Roots that no configuration can make writable. */
export const ALWAYS_FORBIDDEN = [".git", ".verbatim", "verbatim.config.json"] as const;

const STANDARD = CATALYTIC_PROFILES.standard;

/** CMP-01, Canonical Path Constants. */
const FIXED = CATALYTIC_PROFILES["cmp-01"];
export const CMP01 = {
  runs_root: FIXED.runs_root,
  durable_roots: sortedUnique(FIXED.durable_roots),
  catalytic_roots: sortedUnique(FIXED.catalytic_roots),
  forbidden_roots: ["LAW/CANON", "AGENTS.md", "BUILD"],
} as const;

const OWN_PLACES = [".verbatim/runs", ".verbatim/out", ".verbatim/scratch"];

/**
 * The effective policy of the `catalytic` object of a configuration, or every reason why there is none.
 *
 * @example
 * effectivePolicy({ profile: "cmp-01" }).policy?.runs_root; // => "LAW/CONTRACTS/_runs"
 * effectivePolicy({ profil: "cmp-01" }).errors; // => [{ code: "CONFIG_INVALID", pointer: "/catalytic/profil" }]
 */
export function effectivePolicy(config: JsonValue): PolicyReading {
  const errors: PointedError[] = [];
  const fail = (code: string, pointer: string) => void errors.push({ code, pointer: `/catalytic${pointer}` });
  if (!isJsonObject(config)) {
    fail("CONFIG_INVALID", "");
    return { policy: null, settings: DEFAULT_SETTINGS, errors };
  }
  for (const key of Object.keys(config)) {
    if (!Object.hasOwn(catalyticConfig.shape, key)) fail("CONFIG_INVALID", `/${toPointerToken(key)}`);
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

function readRoots(config: JsonObject, profile: "standard" | "cmp-01", fail: Fail): Policy {
  const fixed = profile === "cmp-01";
  if (fixed) {
    for (const key of ["runs_root", "durable_roots", "catalytic_roots"]) {
      if (Object.hasOwn(config, key)) fail("CONFIG_PROFILE_FIXED", `/${key}`);
    }
  }
  const base = fixed ? CMP01 : STANDARD;
  const own = readPaths(config["forbidden_roots"], "/forbidden_roots", fail) ?? [];
  // Forbidding the whole repository would leave nothing that may run.
  for (const [i, path] of own.entries()) {
    if (normalizePath(path) === "") fail("CONFIG_INVALID", `/forbidden_roots/${i}`);
  }
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
    // A root that is refused itself collides with nothing.
    const restored = catalytic
      .filter((path) => path !== "\0")
      .map(normalizePath)
      .filter((root) => !isForbiddenRoot(root, forbidden));
    const judge = (path: string, pointer: string, mayPersist: boolean) => {
      if (path === "\0") return;
      const root = normalizePath(path);
      if (isForbiddenRoot(root, forbidden)) fail("CONFIG_ROOT_FORBIDDEN", pointer);
      else if (mayPersist && restored.some((one) => isInside(root, one))) fail("CONFIG_ROOT_CONFLICT", pointer);
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
  return forbidden.some((one) => overlaps(folded, foldPath(one)));
}

function readPath(value: JsonValue | undefined, fallback: string, fail: Fail): string {
  if (value === undefined) return fallback;
  return readOne(value, "/runs_root", fail);
}
