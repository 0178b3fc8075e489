import type { JsonValue } from "../../../core/canonical/index.ts";
import { NO_PROFILE } from "../../../core/contracts/config/index.ts";
import type { Problem } from "../../../core/contracts/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { AGENT_PROFILE, type AgentProfile } from "../contracts/agent-profile.ts";
import builtIn from "./built-in.json" with { type: "json" };

/** Where a profile comes from; a later one of the same name replaces an earlier one. */
export const PROFILE_SOURCES = ["built-in", "user", "repository"] as const;
type ProfileSource = (typeof PROFILE_SOURCES)[number];

export interface KnownProfile {
  readonly profile: AgentProfile;
  readonly source: ProfileSource;
  /** The file it was read from; null where the package has it. */
  readonly place: string | null;
}

/** The profiles of the package. */
export function builtInProfiles(): KnownProfile[] {
  return (builtIn.profiles as JsonValue[]).map((value) => ({
    profile: readProfile(value, "built-in.json"),
    source: "built-in",
    place: null,
  }));
}

/** A profile that somebody wrote. PROFILE_INVALID names every pointer. */
export function readProfile(value: JsonValue, where: string): AgentProfile {
  const problems = AGENT_PROFILE.check(value);
  const [first] = problems;
  if (first !== undefined) throw invalid(where, first.pointer, first.message, problems);
  const profile: AgentProfile = AGENT_PROFILE.schema.parse(value);
  if (profile.name !== NO_PROFILE) return profile;
  throw invalid(where, "/name", `"${NO_PROFILE}" means no profile at all`, []);
}

function invalid(where: string, pointer: string, message: string, problems: readonly Problem[]): VerbatimError {
  return new VerbatimError("PROFILE_INVALID", {
    message: `the profile is not valid at ${pointer === "" ? "its top" : pointer}: ${message}`,
    where: `${where} ${pointer}`.trim(),
    details: { problems },
  });
}

/** Profiles by name, a later source before an earlier one, in the order of their names. */
export function mergeProfiles(known: readonly KnownProfile[]): KnownProfile[] {
  const byName = new Map<string, KnownProfile>();
  const rank = (one: KnownProfile) => PROFILE_SOURCES.indexOf(one.source);
  for (const one of known) {
    const before = byName.get(one.profile.name);
    if (before === undefined || rank(one) >= rank(before)) byName.set(one.profile.name, one);
  }
  return [...byName.values()].sort((a, b) => (a.profile.name < b.profile.name ? -1 : 1));
}

/** The profile with this name. USAGE names those that there are. */
export function findProfile(name: string, known: readonly KnownProfile[]): KnownProfile {
  const found = known.find(({ profile }) => profile.name === name);
  if (found !== undefined) return found;
  const names = known.map(({ profile }) => profile.name).join(", ");
  throw new VerbatimError("USAGE", {
    message: `there is no profile ${JSON.stringify(name)}; there are ${names}, and ${NO_PROFILE}`,
    fix: { cli: "See: verbatim agent profiles", others: "List the profiles first." },
  });
}
