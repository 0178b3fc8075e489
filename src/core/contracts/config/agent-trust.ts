import { CAP_NAMES, type CapName } from "../caps.ts";
import { readSize } from "../sizes.ts";
import { type AgentConfig, NO_PROFILE, type RetentionConfig, resolveRetention, type UserAgentConfig } from "./agent.ts";
import type { CatalyticConfig } from "./catalytic.ts";
import type { WorkflowConfig } from "./workflow.ts";

/** A key of a repository's configuration that it may not give itself, and what does the same. */
export interface UntrustedKey {
  readonly key: string;
  readonly flag: string;
}

/** What other rooms read of a repository's configuration and what holds for agents as well. */
export interface OtherConfig {
  readonly catalytic?: CatalyticConfig | undefined;
  readonly workflow?: WorkflowConfig | undefined;
}

export interface MergedAgentConfig {
  readonly config: AgentConfig;
  /** Keys of a repository that is not trusted; they are not part of the configuration. */
  readonly untrusted: readonly UntrustedKey[];
  /** Caps that only a repository that is not trusted names: they may lower what everybody gets, and not raise it. */
  readonly caps_at_most: readonly CapName[];
}

/**
 * The configuration of agents: the user's own, then the repository's. What opens something to an agent counts only from a
 * repository that the user trusts: whoever can write to a repository, an agent of yesterday included, could ask for it.
 */
export function mergeAgentConfig(
  user: UserAgentConfig,
  repository: AgentConfig,
  trusted: boolean,
  others: OtherConfig = {},
): MergedAgentConfig {
  const untrusted = trusted ? [] : [...findUntrusted(user, repository), ...findUnguarded(others)];
  const own = trusted ? repository : withoutUntrusted(user, repository);
  const { trust: _, ...base } = user;
  const config: AgentConfig = { ...base, ...own };
  if (base.verify !== undefined || own.verify !== undefined) config.verify = { ...base.verify, ...own.verify };
  if (base.policy !== undefined || own.policy !== undefined) {
    config.policy = {
      ...base.policy,
      ...own.policy,
      ...joined("permit", base.policy, own.policy),
      ...joined("protect", base.policy, own.policy),
      ...joined("secret", base.policy, own.policy),
    };
  }
  if (base.env !== undefined || own.env !== undefined) {
    config.env = { ...joined("pass", base.env, own.env), set: { ...base.env?.set, ...own.env?.set } };
  }
  if (base.profiles !== undefined || own.profiles !== undefined) {
    config.profiles = { ...base.profiles, ...own.profiles };
  }
  if (base.commands !== undefined || own.commands !== undefined) {
    config.commands = { ...base.commands, ...own.commands };
  }
  if (base.parallel !== undefined && own.parallel !== undefined) {
    config.parallel = Math.min(base.parallel, own.parallel);
  }
  if (base.masks !== undefined || own.masks !== undefined) {
    config.masks = { ...joined("add", base.masks, own.masks), ...joined("show", base.masks, own.masks) };
  }
  const unmask = joined("unmask", base.verify, own.verify);
  if (config.verify !== undefined) config.verify = { ...config.verify, ...unmask };
  if (base.redact !== undefined || own.redact !== undefined)
    config.redact = joined("patterns", base.redact, own.redact);
  const network = findStricter(base.network, own.network);
  if (network !== undefined) config.network = network;
  if (base.hosts !== undefined || own.hosts !== undefined) {
    config.hosts = [...(base.hosts ?? []), ...(own.hosts ?? [])];
  }
  if (base.caps !== undefined || own.caps !== undefined) {
    config.caps = { ...own.caps, ...base.caps, ...findLower(base.caps ?? {}, own.caps ?? {}) };
  }
  if (base.attest !== undefined || own.attest !== undefined) config.attest = { ...base.attest, ...own.attest };
  if (base.max_usd !== undefined && own.max_usd !== undefined) {
    config.max_usd = Math.min(base.max_usd, own.max_usd);
  }
  if (!trusted && own.retention !== undefined) config.retention = keepMore(base.retention, own.retention);
  const caps_at_most = trusted
    ? []
    : CAP_NAMES.filter((cap) => base.caps?.[cap] === undefined && own.caps?.[cap] !== undefined);
  return { config: { ...config, ...joined("keep", base, own) }, untrusted, caps_at_most };
}

/** A repository that is not trusted may have more of its runs kept, and never less. */
function keepMore(user: RetentionConfig | undefined, own: RetentionConfig): RetentionConfig {
  const [most, asked] = [resolveRetention(user), resolveRetention({ ...user, ...own })];
  return {
    keep_runs: Math.max(most.keep_runs, asked.keep_runs),
    keep_days: Math.max(most.keep_days, asked.keep_days),
    max_bytes: Math.max(most.max_bytes, asked.max_bytes),
  };
}

/** The caps of a repository that are lower than those of its user. */
function findLower(user: CapsConfig, own: CapsConfig): CapsConfig {
  const bytes = (value: string | number) => (typeof value === "string" ? (readSize(value) ?? 0) : value);
  const isLower = (cap: CapName) =>
    own[cap] !== undefined && (user[cap] === undefined || bytes(own[cap]) < bytes(user[cap]));
  return Object.fromEntries(CAP_NAMES.filter(isLower).map((cap) => [cap, own[cap]]));
}

type CapsConfig = NonNullable<AgentConfig["caps"]>;

const STRICTER = ["inherit", "allow", "none"] as const;

/** A repository may leave an agent less of the network than its user does, and never more. */
function findStricter(user: AgentConfig["network"], own: AgentConfig["network"]): AgentConfig["network"] {
  if (user === undefined || own === undefined) return own ?? user;
  return STRICTER.indexOf(own) > STRICTER.indexOf(user) ? own : user;
}

/** Where the user limits the network, a repository adds no hosts to it. */
function isLimited({ network }: UserAgentConfig): boolean {
  return network === "allow" || network === "none";
}

/** A list of both, the user's first. */
function joined<K extends string>(
  name: K,
  base: { readonly [k in K]?: readonly string[] | undefined } | undefined,
  own: { readonly [k in K]?: readonly string[] | undefined } | undefined,
): Partial<Record<K, string[]>> {
  const all: string[] = [...(base?.[name] ?? []), ...(own?.[name] ?? [])];
  const made: Partial<Record<K, string[]>> = {};
  if (all.length > 0) made[name] = all;
  return made;
}

function findUntrusted(user: UserAgentConfig, config: AgentConfig): UntrustedKey[] {
  const { hosts, env, keep, masks, verify, profiles = {} } = config;
  const found: UntrustedKey[] = [];
  const add = (key: string, isThere: boolean, flag: string) => {
    if (isThere) found.push({ key, flag });
  };
  add("agent.env.pass", (env?.pass ?? []).length > 0, `--env ${env?.pass?.[0] ?? "NAME"}`);
  add(
    "agent.env.set",
    Object.keys(env?.set ?? {}).length > 0,
    `--env ${Object.keys(env?.set ?? {})[0] ?? "NAME"}=VALUE`,
  );
  const [host] = hosts ?? [];
  const name = typeof host === "string" ? host : (host?.host ?? "NAME");
  add("agent.hosts", isLimited(user) && host !== undefined, `--host ${name}`);
  add("agent.masks.show", (masks?.show ?? []).length > 0, `--unmask ${masks?.show?.[0] ?? "PATH"}`);
  const unmask = verify?.unmask ?? [];
  add("agent.verify.unmask", unmask.length > 0, `--unmask ${unmask[0] ?? "PATH"}`);
  add("agent.keep", (keep ?? []).length > 0, `--keep ${keep?.[0] ?? "PATH"}`);
  add("agent.sessions", config.sessions === "home", "--keep PATH");
  add("agent.attest.key", config.attest?.key !== undefined, "--key KEY");
  add("agent.apply", config.apply === "auto", "--apply auto");
  add("agent.profile", isForeignProfile(config), `--profile ${config.profile ?? "NAME"}`);
  for (const [name, profile] of Object.entries(profiles)) {
    for (const part of ["env", "login"] as const) {
      add(
        `agent.profiles.${name}.${part}`,
        Object.hasOwn(profile, part),
        part === "env" ? "--env NAME" : "--keep PATH",
      );
    }
    add(`agent.profiles.${name}.network`, isLimited(user) && Object.hasOwn(profile, "network"), "--host NAME");
  }
  return found;
}

/** A profile of the package or of the user gives any command that agent's key and login; one of the repository has neither. */
function isForeignProfile({ profile, profiles = {} }: AgentConfig): boolean {
  return profile !== undefined && profile !== NO_PROFILE && !Object.hasOwn(profiles, profile);
}

/** What would let an agent, or what verifies its work, out of the guard. */
function findUnguarded({ catalytic, workflow }: OtherConfig): UntrustedKey[] {
  const found: UntrustedKey[] = [];
  if (catalytic?.guard === "audit") found.push({ key: "catalytic.guard", flag: "--guard audit" });
  const { isolation, env_allow = [] } = workflow?.verify ?? {};
  if (isolation === "worktree") found.push({ key: "workflow.verify.isolation", flag: "--guard audit" });
  const [name] = env_allow;
  if (name !== undefined) found.push({ key: "workflow.verify.env_allow", flag: `--verify-sh "${name}=VALUE CMD"` });
  return found;
}

function withoutUntrusted(user: UserAgentConfig, config: AgentConfig): AgentConfig {
  const {
    env: _env,
    keep: _keep,
    apply,
    masks,
    verify,
    hosts,
    profiles,
    profile,
    sessions: _sessions,
    attest,
    ...rest
  } = config;
  const { unmask: _unmask, ...verification } = verify ?? {};
  return {
    ...rest,
    ...(apply === undefined || apply === "auto" ? {} : { apply }),
    ...(attest?.notes === undefined ? {} : { attest: { notes: attest.notes } }),
    ...(profile === undefined || isForeignProfile(config) ? {} : { profile }),
    ...(verify === undefined ? {} : { verify: verification }),
    ...(masks?.add === undefined ? {} : { masks: { add: masks.add } }),
    ...(hosts === undefined || isLimited(user) ? {} : { hosts }),
    ...(profiles === undefined
      ? {}
      : {
          profiles: Object.fromEntries(
            Object.entries(profiles).map(([name, { env: _, login: __, network, ...kept }]) => [
              name,
              network === undefined || isLimited(user) ? kept : { ...kept, network },
            ]),
          ),
        }),
  };
}
