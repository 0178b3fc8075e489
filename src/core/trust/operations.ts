import { z } from "zod";
import { type JsonValue, parseJson, toCanonicalFile } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../operation.ts";
import type { LocalFiles, SyncCrypto } from "../ports.ts";
import type { SigningKey } from "./key.ts";
import { parsePolicy, SCOPES, type Scope, type TrustPolicy, toThreshold } from "./policy.ts";

/** A key of the user's key folder. */
interface KeyFacts {
  readonly name: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly public_file: string;
  /** Null when only the public half is there. */
  readonly private_file: string | null;
}

/** The folder where the user keeps keys. KEY is a name in it, or the path of a key file. */
export interface KeyFolder {
  create(name: string): Promise<KeyFacts>;
  list(): Promise<readonly KeyFacts[]>;
  show(key: string): Promise<KeyFacts>;
  load(key: string): Promise<SigningKey>;
  /** The private key of a text; KEY_INVALID without a word of it. */
  parse(text: string, where: string): Promise<SigningKey>;
}

/** What the operations on keys need. */
export interface TrustPorts {
  readonly keys: KeyFolder;
  readonly files: LocalFiles;
  readonly crypto: SyncCrypto;
}

const MAX_FILE = 1024 * 1024;
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const keySchema = z.strictObject({
  name: z.string(),
  key_id: hash,
  public_key: hash,
  public_file: z.string(),
  private_file: z.string().nullable(),
});

export const keysNew = defineOperation({
  name: "keys.new",
  summary: "Creates an Ed25519 key pair in your key folder.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ name: z.string().describe("Name of the key; an existing key is never overwritten.") }),
  output: keySchema,
  run: ({ keys }: TrustPorts, { name }) => keys.create(name),
});

export const keysList = defineOperation({
  name: "keys.list",
  summary: "Lists the keys in your key folder.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({ keys: z.array(keySchema) }),
  run: async ({ keys }: TrustPorts) => ({ keys: [...(await keys.list())] }),
});

export const keysShow = defineOperation({
  name: "keys.show",
  summary: "Shows the public half of a key.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ key: z.string().describe("Name of a key, or the path of a key file.") }),
  output: keySchema,
  run: ({ keys }: TrustPorts, { key }) => keys.show(key),
});

const policyOutput = z.strictObject({
  path: z.string(),
  threshold: z.number(),
  keys: z.array(
    z.strictObject({
      name: z.string(),
      key_id: hash,
      public_key: hash,
      scopes: z.array(z.enum(SCOPES)),
      enabled: z.boolean(),
    }),
  ),
  require_commands: z.array(z.string()).optional(),
  permit: z.array(z.string()).optional(),
});

/** What a policy is for where nobody says it. What agents commit is vouched for only where somebody asks for that. */
const USUAL: readonly Scope[] = ["BUNDLE", "CHECKPOINT", "PROOF"];

export const keysPolicyInit = defineOperation({
  name: "keys.policy-init",
  summary: "Writes a trust policy that pins public keys.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    file: z.string().describe("File to write; never overwritten."),
    keys: z.array(z.string()).min(1).describe("Key to pin, by name or path; can be repeated."),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .default([...USUAL])
      .describe("What these keys may vouch for; can be repeated (default: all but AGENT)."),
    require_commands: z
      .array(z.string().min(1))
      .default([])
      .describe("A command that must have passed before a commit of an agent counts; can be repeated."),
    permit: z
      .array(z.string().min(1))
      .default([])
      .describe("A protected path that a commit of an agent may change; can be repeated."),
    threshold: z.int().min(1).default(1).describe("How many distinct keys must have signed."),
  }),
  output: policyOutput,
  async run({ keys, files, crypto }: TrustPorts, input) {
    const pinned = await Promise.all(input.keys.map((key) => keys.show(key)));
    if (input.threshold > pinned.length) {
      throw new VerbatimError("TRUST_THRESHOLD_UNREACHABLE", {
        message: `a threshold of ${input.threshold} cannot be met with ${pinned.length} key${pinned.length === 1 ? "" : "s"}`,
      });
    }
    const scopes = SCOPES.filter((scope) => input.scopes.includes(scope));
    const policy = {
      policy_version: "1.0.0",
      threshold: input.threshold,
      keys: pinned.map(({ key_id, public_key, name }) => ({ key_id, public_key, name, scopes, enabled: true })),
      ...toAgentRules(input),
    };
    await parsePolicy(crypto, policy as JsonValue);
    await files.create(input.file, toCanonicalFile(policy));
    return { path: input.file, threshold: policy.threshold, keys: policy.keys, ...toAgentRules(input) };
  },
});

/** Rules about commits of agents, where there are any: a policy without them is written as ever. */
function toAgentRules({
  require_commands = [],
  permit = [],
}: Partial<Record<"require_commands" | "permit", readonly string[]>>) {
  return {
    ...(require_commands.length === 0 ? {} : { require_commands: [...require_commands] }),
    ...(permit.length === 0 ? {} : { permit: [...permit] }),
  };
}

export const keysPolicyCheck = defineOperation({
  name: "keys.policy-check",
  summary: "Checks a trust policy and shows whom it trusts.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ file: z.string().describe("File with the policy; - reads standard input.") }),
  output: policyOutput,
  async run({ files, crypto }: TrustPorts, { file }) {
    const policy: TrustPolicy = await parsePolicy(crypto, parseJson(await files.read(file, MAX_FILE), { file }), file);
    const keys = policy.keys.map((key) => ({ ...key, scopes: [...key.scopes] }));
    return { path: file, threshold: toThreshold(policy), keys, ...toAgentRules(policy) };
  },
});

/** All operations on keys and policies. */
export const TRUST_OPERATIONS = [keysNew, keysList, keysShow, keysPolicyInit, keysPolicyCheck] as const;
