import { isJsonObject, type JsonObject, type JsonValue, toPointerToken } from "../../../core/canonical/index.ts";
import { type ResolvedCatalytic, resolveCatalytic } from "../../../core/contracts/config/index.ts";
import { GUARD_REQUESTS } from "../../../core/contracts/guards.ts";
import { type Fail, readPaths } from "./config-paths.ts";
import { normalizePath } from "./path-rules.ts";

/** Everything else the configuration says about catalytic runs. Nobody who signs nothing has settings for it. */
export type Settings = Readonly<
  Pick<ResolvedCatalytic, "guard" | "network" | "memo" | "tripwire" | "limits" | "writer_skills"> & {
    signing: ResolvedCatalytic["signing"] | null;
  }
>;
export type TripwireSettings = Settings["tripwire"];
export type Limits = Settings["limits"];

const { guard, network, memo, tripwire, limits, writer_skills } = resolveCatalytic();

/** The settings of a configuration that says nothing. */
export const DEFAULT_SETTINGS: Settings = { guard, network, memo, tripwire, limits, signing: null, writer_skills };

/** Everything of the `catalytic` object but the roots; what does not fit is noted and takes its default. */
export function readSettings(config: JsonObject, fail: Fail): Settings {
  const choose = <T extends string>(key: string, allowed: readonly T[], fallback: T): T => {
    const value = config[key];
    if (value === undefined) return fallback;
    if ((allowed as readonly unknown[]).includes(value)) return value as T;
    fail("CONFIG_INVALID", `/${key}`);
    return fallback;
  };
  const given = config["memo"];
  if (given !== undefined && typeof given !== "boolean") fail("CONFIG_INVALID", "/memo");
  return {
    guard: choose("guard", GUARD_REQUESTS, guard),
    network: choose("network", ["none", "inherit"], network),
    memo: typeof given === "boolean" ? given : memo,
    tripwire: readTripwire(config["tripwire"], fail),
    limits: readLimits(config["limits"], fail),
    signing: readSigning(config["signing"], fail),
    writer_skills: choose("writer_skills", ["warn", "deny"], writer_skills),
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
    on_hit: onHit === "report" || onHit === "fail" ? onHit : usual.on_hit,
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
    output_bytes: read("output_bytes"),
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
