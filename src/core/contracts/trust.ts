import { z } from "zod";
import { FINDINGS } from "../errors/index.ts";
import { parsePublicKey } from "../trust/key.ts";
import { defineContract } from "./contract.ts";
import { toPointer } from "./problem.ts";
import { findRepeated, readItems, readText } from "./reading.ts";
import { base64, hashHex } from "./shapes.ts";

const envelopeSchema = z.strictObject({
  payload: base64,
  payloadType: z.string(),
  // A signature nobody can decode counts for nothing and spoils nothing, and a key id is only a hint.
  signatures: z.array(z.strictObject({ keyid: z.string().optional(), sig: z.string() })),
});

/** A DSSE envelope: a payload, its type, and signatures over both. */
export const DSSE_ENVELOPE = defineContract({
  room: "trust",
  name: "dsse-envelope",
  title: "DSSE envelope",
  summary: "A signed payload: attestation of a bundle, checkpoint of the ledger, proof of a catalytic run.",
  schema: envelopeSchema,
});

const TRUST_SCOPES = ["BUNDLE", "CHECKPOINT", "PROOF", "AGENT"] as const;

const policySchema = z.strictObject({
  policy_version: z.literal("1.0.0"),
  threshold: z.int().min(1),
  keys: z.array(
    z.strictObject({
      key_id: hashHex,
      public_key: hashHex,
      name: z.string(),
      scopes: z.array(z.enum(TRUST_SCOPES)).min(1),
      enabled: z.boolean(),
    }),
  ),
  /** What commits of agents are judged by besides. */
  require_commands: z.array(z.string().min(1)).optional(),
  permit: z.array(z.string().min(1)).optional(),
});

/** Whose signatures count, for what, and how many are needed. */
export const TRUST_POLICY = defineContract({
  room: "trust",
  name: "trust-policy",
  title: "Trust policy",
  summary: "The pinned public keys, what each may vouch for, and how many distinct keys must have signed.",
  schema: policySchema,
  checks: [
    {
      code: "TRUST_KEY_REPEATED",
      summary: FINDINGS.trust.TRUST_KEY_REPEATED,
      run: (value) => {
        const keys = readItems(value, "keys");
        return ["key_id", "public_key"].flatMap((member) =>
          findRepeated(keys, (key) => readText(key, member)).map((index) => `/keys/${index}/${member}`),
        );
      },
    },
    {
      code: "TRUST_SCOPE_REPEATED",
      summary: FINDINGS.trust.TRUST_SCOPE_REPEATED,
      run: (value) =>
        readItems(value, "keys").flatMap((key, index) =>
          findRepeated(readItems(key, "scopes"), (scope) => (typeof scope === "string" ? scope : null)).map((at) =>
            toPointer(`/keys/${index}/scopes`, at),
          ),
        ),
    },
  ],
  derived: [
    {
      code: "TRUST_KEY_ID_MISMATCH",
      summary: FINDINGS.trust.TRUST_KEY_ID_MISMATCH,
      async run({ keys }, crypto) {
        const ids = await Promise.all(keys.map(({ public_key }) => crypto.sha256(parsePublicKey(public_key))));
        return keys.flatMap(({ key_id }, index) => (key_id === ids[index] ? [] : [`/keys/${index}/key_id`]));
      },
    },
  ],
});
