import { z } from "zod";
import { count } from "../shapes.ts";
import { readSize, SIZE_FORM } from "../sizes.ts";
import { agentPolicyConfig } from "./agent-policy.ts";
import { AGENT_PATCH_POLICY, patchPolicyConfig, resolvePatchPolicy } from "./patch-policy.ts";

const written = z.union([z.string().min(1), z.strictObject({ sh: z.string().min(1) })]);

/** A pattern of the repository, or a place: absolute or in the home folder. What takes something out has a key of its own. */
const mask = z.string().regex(/^(?:~\/.|\/.|[^!/~])/);

/** `agent.verify`: how changes of agents are verified where no flag says it. */
const agentVerifyConfig = z.strictObject({
  commands: z.array(written).optional(),
  setup: z.array(z.string().min(1)).optional(),
  base: z.enum(["auto", "view", "copy", "checkout"]).optional(),
  /** A tree with more bytes is not copied. */
  copy_max: count.optional(),
  timeout_s: z.int().min(1).optional(),
  baseline: z.boolean().optional(),
  /** Hidden files that verify commands see although the agent does not. */
  unmask: z.array(mask).optional(),
});

const hostText = z.string().regex(/^(?:\*\.)?[A-Za-z0-9][A-Za-z0-9.-]*(?::[1-9][0-9]{0,4})?$/);

/** A host that an agent may reach where its network is limited; port 443 unless said. */
const hostConfig = z.union([
  hostText,
  z.strictObject({
    host: z.string().regex(/^(?:\*\.)?[A-Za-z0-9][A-Za-z0-9.-]*$/),
    port: z.int().min(1).max(65_535).optional(),
    /** Whether it may have an address that is not public. */
    private: z.boolean().optional(),
  }),
]);
const size = z.union([z.int().min(1), z.string().regex(SIZE_FORM)]);
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*\*?$/);

/** No profile: nothing is passed besides what every agent gets. */
export const NO_PROFILE = "none";

/** A word of a command, where no placeholder but these stands for something. */
const wordWith = (names: string) =>
  z.string().regex(new RegExp(`^(?:(?!\\{(?!(?:${names})\\})[A-Za-z_][A-Za-z0-9_]*\\})[\\s\\S])*$`, "u"));
/** A command that is started by its name, from a page too. `{goal}` and `{feedback}` are whole words or parts of one. */
const commandConfig = z.strictObject({
  argv: z.array(wordWith("goal")).min(1),
  /** What continues its work with what somebody said about it. */
  feedback: z.array(wordWith("goal|feedback")).min(1).optional(),
  profile: z.string().min(1).optional(),
  verify: z.array(written).min(1).optional(),
  timeout_s: z.int().min(1).max(86_400).optional(),
  network: z.enum(["inherit", "none", "allow"]).optional(),
  hosts: z.array(hostText).optional(),
  keep: z.array(z.string().regex(/^(?:~\/|\/|[A-Za-z]:[\\/])/)).optional(),
});

export type CommandConfig = z.infer<typeof commandConfig>;

/** `agent.retention`: ended runs beyond one of these lose logs, transcripts and proofs, never their candidates. */
const retentionConfig = z.strictObject({
  keep_runs: z.int().min(0).optional(),
  keep_days: z.int().min(0).optional(),
  max_bytes: z.union([z.int().min(1), z.string().regex(SIZE_FORM)]).optional(),
});

export const agentConfig = z.strictObject({
  verify: agentVerifyConfig.optional(),
  policy: agentPolicyConfig.optional(),
  patch: patchPolicyConfig.optional(),
  network: z.enum(["inherit", "none", "allow"]).optional(),
  /** What an agent may reach with the network `allow`. */
  hosts: z.array(hostConfig).optional(),
  /** What an agent and its verifications may use at most. */
  caps: z
    .strictObject({ memory: size.optional(), processes: z.int().min(1).optional(), disk: size.optional() })
    .optional(),
  /** How long one attempt may take, in seconds (default: as long as it wants). */
  timeout_s: z.int().min(1).optional(),
  /** What happens with a change that passes: somebody at a terminal is asked, it is applied, or it is kept for later. */
  apply: z.enum(["ask", "auto", "never"]).optional(),
  /** How often an agent starts again by itself, with what was wrong. */
  fix: z.int().min(0).max(10).optional(),
  /** What all attempts of a run may cost, in USD (default: whatever they cost). */
  max_usd: z.number().min(0.000001).max(999_999).optional(),
  /** Whether new session files of an agent stay with its run, or go into the history of the user as well. */
  sessions: z.enum(["run", "home"]).optional(),
  /** What signs commits of agents, and whether that is kept as a note of git. */
  attest: z.strictObject({ key: z.string().min(1).optional(), notes: z.boolean().optional() }).optional(),
  /** How long ended runs keep what nobody needs to land them. */
  retention: retentionConfig.optional(),
  /** Places outside the repository that stay writable for an agent. */
  keep: z.array(z.string().regex(/^(?:~\/|\/|[A-Za-z]:[\\/])/)).optional(),
  /** Files that agents find empty besides those that are always so, and those that they see all the same. */
  masks: z.strictObject({ add: z.array(mask).optional(), show: z.array(mask).optional() }).optional(),
  /** What else is taken out of records: a text, or its beginning with `*` for at least eight letters, digits, `_` or `-`. */
  redact: z.strictObject({ patterns: z.array(z.string().regex(/^[^*\s]{4,100}\*?$/)).optional() }).optional(),
  /** The profile of every agent (default: the one that its command shows). */
  profile: z.string().min(1).optional(),
  /** Profiles by name; each is read as an agent-profile. */
  profiles: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  /** Commands by name. Each counts only once its owner has allowed it on this machine. */
  commands: z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,39}$/), commandConfig).optional(),
  /** How many agents a server has at work at once. */
  parallel: z.int().min(1).max(6).optional(),
  /** Variables that agents get besides those of their profile. */
  env: z
    .strictObject({
      pass: z.array(variable).optional(),
      set: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
    })
    .optional(),
});

/** The `agent` object of the user's own configuration, which alone says which repositories are trusted. */
export const userAgentConfig = agentConfig.extend({
  /** Real paths of repositories whose configuration may pass variables and keep places writable. */
  trust: z.array(z.string().regex(/^(?:~\/|\/|[A-Za-z]:[\\/])/)).optional(),
});

export type AgentConfig = z.infer<typeof agentConfig>;
export type UserAgentConfig = z.infer<typeof userAgentConfig>;

export type RetentionConfig = z.infer<typeof retentionConfig>;

/** What `agent.retention` says, with every default filled in. */
export function resolveRetention({ keep_runs = 50, keep_days = 30, max_bytes = 2_000_000_000 }: RetentionConfig = {}) {
  const bytes = typeof max_bytes === "string" ? readSize(max_bytes) : max_bytes;
  return { keep_runs, keep_days, max_bytes: bytes ?? 0 };
}

/** The configuration of `verbatim agent` with every default filled in. */
export function resolveAgent(config: AgentConfig = {}) {
  const { verify = {} } = config;
  return {
    verify: {
      commands: verify.commands ?? [],
      setup: verify.setup ?? [],
      base: verify.base ?? ("auto" as const),
      copy_max: verify.copy_max ?? 5_000_000_000,
      timeout_s: verify.timeout_s ?? 1800,
      baseline: verify.baseline ?? true,
      unmask: verify.unmask ?? [],
    },
    policy: config.policy ?? {},
    /** The policy of `workflow new --direct`. */
    patch: resolvePatchPolicy(config.patch, AGENT_PATCH_POLICY),
    /** What somebody wrote under `agent.patch`, which the first generation read. */
    first_patch: config.patch ?? {},
    /** Null: that of `catalytic.network`. */
    network: config.network ?? null,
    hosts: config.hosts ?? [],
    /** Null: what every agent may use. */
    caps: {
      memory: config.caps?.memory ?? null,
      processes: config.caps?.processes ?? null,
      disk: config.caps?.disk ?? null,
    },
    /** Null: as long as it wants. */
    timeout_s: config.timeout_s ?? null,
    /** Null: somebody at a terminal is asked. */
    apply: config.apply ?? null,
    fix: config.fix ?? 0,
    /** Null: whatever they cost. */
    max_usd: config.max_usd ?? null,
    sessions: config.sessions ?? ("run" as const),
    /** Without a key nothing is attested by itself. */
    attest: { key: config.attest?.key ?? null, notes: config.attest?.notes ?? true },
    retention: resolveRetention(config.retention),
    keep: config.keep ?? [],
    redact: { patterns: config.redact?.patterns ?? [] },
    masks: { add: config.masks?.add ?? [], show: config.masks?.show ?? [] },
    profile: config.profile ?? null,
    profiles: config.profiles ?? {},
    commands: config.commands ?? {},
    parallel: config.parallel ?? 2,
    env: { pass: config.env?.pass ?? [], set: config.env?.set ?? {} },
  };
}

export type ResolvedAgent = ReturnType<typeof resolveAgent>;
