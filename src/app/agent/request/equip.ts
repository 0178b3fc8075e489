import type { JsonValue } from "../../../core/canonical/index.ts";
import { NO_PROFILE } from "../../../core/contracts/config/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { type HostEntry, parseHostEntry } from "../../../core/network/host-names.ts";
import {
  type AgentEnvironment,
  builtInProfiles,
  detectProfile,
  filterEnvironment,
  findProfile,
  type KnownProfile,
  mergeProfiles,
  type ProfileHost,
  placeInHome,
  readProfile,
  readProviderHosts,
} from "../../../rooms/workflow/index.ts";
import { CONFIG_FILE } from "../../config/workspace.ts";
import type { AgentPorts } from "../ports.ts";

/** What a person says about the surroundings of an agent. */
export interface Surroundings {
  /** Null: the one that the command shows. */
  readonly profile: string | null;
  /** `NAME` or `NAME=VALUE`. */
  readonly env: readonly string[];
  readonly envAll: boolean;
}

/** What an agent is given besides its view. */
export interface Equipment {
  readonly known: KnownProfile | null;
  readonly environment: AgentEnvironment;
  /** Hosts of the providers of models that the user chose for this agent. */
  readonly providers: readonly ProfileHost[];
}

/** A configuration of an agent is smaller. */
const MOST_CONFIG_BYTES = 1024 * 1024;

/** The profiles of the package, of the user and of the repository, one of each name. PROFILE_INVALID. */
export function listProfiles(outside: Pick<AgentPorts, "user" | "config">): KnownProfile[] {
  return mergeProfiles(listAllProfiles(outside));
}

/** The same with those that another of their name replaces. */
export function listAllProfiles({ user, config }: Pick<AgentPorts, "user" | "config">): KnownProfile[] {
  const own = user.profiles().map(({ place, value }) => ({
    profile: readProfile(value, place),
    source: "user" as const,
    place,
  }));
  const repository = Object.entries(config().agent.profiles).map(([name, value]) => ({
    profile: readProfile({ name, ...value } as JsonValue, `${CONFIG_FILE} /agent/profiles/${name}`),
    source: "repository" as const,
    place: CONFIG_FILE,
  }));
  return [...builtInProfiles(), ...own, ...repository];
}

/** Chooses the profile and the variables of an agent before anything is made. CONFIG_UNTRUSTED, USAGE. */
export function equip(outside: AgentPorts, command: readonly string[], asked: Surroundings): Equipment {
  const { agent } = outside.config();
  refuseUntrusted(outside);
  const profiles = listProfiles(outside);
  const wanted = asked.profile ?? agent.profile;
  const detected = () =>
    detectProfile(
      command,
      profiles.map(({ profile }) => profile),
      outside.user,
    );
  const name = wanted ?? detected()?.name ?? NO_PROFILE;
  const known = name === NO_PROFILE ? null : findProfile(name, profiles);
  const { names, values } = readVariables(asked.env, outside.user.env);
  const environment = filterEnvironment({
    env: outside.user.env,
    profile: known?.profile ?? null,
    config: agent.env,
    names,
    values,
    all: asked.envAll,
  });
  return { known, environment, providers: known === null ? [] : findProviders(outside, known.profile) };
}

/** Only the user's own files are read: those of the repository could have been written by an agent. */
function findProviders({ user }: AgentPorts, { network }: KnownProfile["profile"]): ProfileHost[] {
  const { from = [], known = {} } = network?.providers ?? {};
  return from.flatMap((file) => {
    const bytes = user.home === null ? null : user.readFile(placeInHome(file, user.env, user.home), MOST_CONFIG_BYTES);
    return bytes === null ? [] : readProviderHosts(file, known, bytes);
  });
}

/** The hosts that the agent itself needs, where its network is limited. */
export function listHosts({ known, providers }: Equipment): HostEntry[] {
  return [...(known?.profile.network?.hosts ?? []), ...providers].flatMap((one) => {
    const entry = parseHostEntry(typeof one === "string" ? one : one.host);
    return entry === null ? [] : [{ ...entry, private: typeof one !== "string" && one.private === true }];
  });
}

/** A repository may not give an agent what its user would not. CONFIG_UNTRUSTED. */
export function refuseUntrusted(outside: AgentPorts): void {
  const [first, ...more] = outside.config().agent.untrusted;
  if (first === undefined) return;
  const keys = [first, ...more].map(({ key }) => key);
  throw new VerbatimError("CONFIG_UNTRUSTED", {
    message: `this repository's configuration asks for ${keys.join(", ")}, which a repository may not grant itself`,
    where: `${CONFIG_FILE} /${first.key.replaceAll(".", "/")}`,
    fix: {
      cli: `Take it out and use ${first.flag}, or trust this repository: agent.trust in your own configuration (${outside.user.configFile})`,
      others: "Take it out of the configuration, or ask the user to trust this repository.",
    },
    details: { keys, trust: outside.user.configFile },
  });
}

function readVariables(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { readonly names: string[]; readonly values: Record<string, string> } {
  const names: string[] = [];
  const values: Record<string, string> = {};
  for (const one of given) {
    const at = one.indexOf("=");
    const name = at < 0 ? one : one.slice(0, at);
    if (!/^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(name) || name.startsWith("VERBATIM_") || (at >= 0 && name.endsWith("*"))) {
      throw new VerbatimError("USAGE", {
        message: {
          cli: `--env must be NAME or NAME=VALUE, and not a variable of Verbatim itself: ${JSON.stringify(name)}`,
          others: `env must be NAME or NAME=VALUE, and not a variable of Verbatim itself: ${JSON.stringify(name)}`,
        },
      });
    }
    if (at >= 0) values[name] = one.slice(at + 1);
    else if (!name.endsWith("*") && env[name] === undefined) {
      throw new VerbatimError("USAGE", {
        message: {
          cli: `--env ${name}: there is no such variable in your environment`,
          others: `env: there is no variable ${name} in this environment`,
        },
        fix: { cli: `Set it, or give its value: --env ${name}=VALUE`, others: "Set it, or give its value." },
      });
    } else names.push(name);
  }
  return { names, values };
}
