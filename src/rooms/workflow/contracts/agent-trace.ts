import { z } from "zod";
import { isJsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { defineContract, hashHex, uuid } from "../../../core/contracts/index.ts";
import { FINDINGS } from "../../../core/errors/index.ts";
import { AGENT_STATES } from "./agent-run.ts";

/** The version of the Agent Trace specification that is written. */
export const AGENT_TRACE_VERSION = "0.1.0";
export const TRANSCRIPT_VERSION = "verbatim-transcript-v1";

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const instant = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/);
const text = z.string().min(1);
const amount = z.int().min(0);
const number = z.int().min(1);

const contributor = z.strictObject({
  /** `mixed`: lines that were merged with lines of other people. */
  type: z.enum(["ai", "mixed"]),
  /** Only where every answer of the agent came from one model; as models.dev writes it. */
  model_id: z.string().max(250).optional(),
});

const range = z.strictObject({
  /** Both from 1, the last line included. */
  start_line: number,
  end_line: number,
  /** SHA-256 of these lines with their line feeds; left out where they may hold a secret. */
  content_hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional(),
});

const session = z.strictObject({
  attempt: number,
  format: text,
  /** The id that the agent gave it. */
  session: text.nullable(),
  /** Of the redacted transcript that was kept. */
  sha256: hashHex.nullable(),
});

/** What the specification leaves to us, under a name of our own. */
const own = z.strictObject({
  run_id: text,
  state: z.enum(AGENT_STATES),
  /** SHA-256 of the candidate whose lines these are. */
  candidate: hashHex,
  /** Where the lines are: in the commit, in the tree the change was applied to, or in nothing but the candidate. */
  lines_of: z.enum(["commit", "tree", "candidate"]),
  /** What the candidate was made of. */
  base: z.strictObject({ commit: objectId, tree: objectId }),
  agent: z.strictObject({ profile: text, argv0: text }),
  models: z.array(z.strictObject({ model: text.nullable(), output: amount })),
  sessions: z.array(session),
  guard: text.nullable(),
  proof_hash: hashHex.nullable(),
  verification: z.enum(["PASS", "FAIL", "NONE"]),
  /** What the change does besides adding lines. */
  other_files: z.array(
    z.strictObject({
      path: text,
      operation: z.enum(["create", "modify", "delete"]),
      kind: z.enum(["text", "binary", "link", "mode"]),
    }),
  ),
  /** What was asked, word for word; only where content was asked for. */
  content: z.strictObject({ goal: text, argv: z.array(z.string()) }).optional(),
});

const agentTrace = z.strictObject({
  version: z.literal(AGENT_TRACE_VERSION),
  id: uuid,
  timestamp: instant,
  vcs: z.strictObject({ type: z.literal("git"), revision: objectId }),
  tool: z.strictObject({ name: z.literal("Verbatim"), version: text }),
  files: z.array(
    z.strictObject({
      path: text,
      conversations: z.array(z.strictObject({ contributor, ranges: z.array(range).min(1) })).min(1),
    }),
  ),
  metadata: z.strictObject({ verbatim: own }),
});

export type AgentTrace = z.infer<typeof agentTrace>;
export type TraceRange = z.infer<typeof range>;

/** What `agent export --format agent-trace` writes. */
export const AGENT_TRACE = defineContract({
  room: "workflow",
  name: "agent-trace",
  title: "Agent Trace record",
  summary: "Which lines an agent wrote, as a record of the Agent Trace specification 0.1.0.",
  schema: agentTrace,
  checks: [
    {
      code: "AGENT_TRACE_INCONSISTENT",
      summary: FINDINGS.workflow.AGENT_TRACE_INCONSISTENT,
      run: listDisorder,
    },
  ],
});

/** Ranges that end before they begin, or are not in the order of the file. */
function listDisorder(value: JsonValue): string[] {
  const list = (of: JsonValue | undefined) => (Array.isArray(of) ? (of as readonly JsonValue[]) : []);
  const member = (of: JsonValue | undefined, key: string) => (isJsonObject(of) ? of[key] : undefined);
  return list(member(value, "files")).flatMap((file, f) =>
    list(member(file, "conversations")).flatMap((conversation, c) => {
      let last = 0;
      return list(member(conversation, "ranges")).flatMap((one, r) => {
        const [start, end] = [member(one, "start_line"), member(one, "end_line")];
        if (typeof start !== "number" || typeof end !== "number") return [];
        const isRight = last < start && start <= end;
        last = end;
        return isRight ? [] : [`/files/${f}/conversations/${c}/ranges/${r}`];
      });
    }),
  );
}

const entry = z.strictObject({
  at: text.nullable(),
  from: z.enum(["user", "agent", "tool", "system"]),
  kind: z.enum(["text", "reasoning", "tool_call", "tool_result"]),
  model: text.nullable(),
  tool: text.nullable(),
  /** Of what was said, as UTF-8 without its secrets. */
  bytes: amount,
  text: z.string().optional(),
});

/** What an agent printed. */
const printed = z.strictObject({ bytes: amount, sha256: hashHex, text: z.string().optional() });

const transcript = z.strictObject({
  schema_version: z.literal(TRANSCRIPT_VERSION),
  run_id: text,
  state: z.enum(AGENT_STATES),
  /** Whether texts and the arguments of tools are in it. */
  content: z.boolean(),
  goal: text.optional(),
  attempts: z.array(
    z.strictObject({
      n: number,
      profile: text,
      argv0: text,
      argv: z.array(z.string()).optional(),
      started_at: instant,
      ended_at: instant.nullable(),
      sessions: z.array(
        z.strictObject({
          format: text,
          session: text.nullable(),
          /** Of the redacted copy it was read from. */
          sha256: hashHex,
          /** Lines of it that were not understood. */
          unread: amount,
          /** Only the first 64 MiB of it were read. */
          truncated: z.literal(true).optional(),
          entries: z.array(entry),
        }),
      ),
      /** Null: nothing is kept. */
      output: printed.nullable(),
      errors: printed.nullable(),
    }),
  ),
});

export type Transcript = z.infer<typeof transcript>;

/** What `agent export --format transcript` writes. */
export const TRANSCRIPT = defineContract({
  room: "workflow",
  name: "transcript",
  title: "Transcript of an agent run",
  summary: "What was said and done in the sessions of an agent run, in one form for every agent.",
  schema: transcript,
});
