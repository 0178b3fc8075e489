import type { Input, OperationName, Output } from "../../app/operations.ts";
import { BUDGET_FIELDS } from "../../core/text/index.ts";

/** One thing a tool can do: an operation of the table, and which of its fields this surface takes. */
export interface ToolVerb {
  readonly action: string;
  readonly operation: OperationName;
  readonly fields: readonly string[];
  /** Fields that have another name in the operation, and which. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Fields that may be left out here, and what they are then. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Member of the output that is the answer; what is next to it goes into `_meta` under this verb's name. */
  readonly part?: string;
  /** Also for an agent in its cage: changes nothing that the agent itself may not change. */
  readonly caged?: true;
}

/** One tool. Several verbs are told apart by the parameter `action`; the first one is what happens without it. */
export interface ToolPlan {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly verbs: readonly [ToolVerb, ...ToolVerb[]];
  /** Asking twice is as good as asking once. */
  readonly idempotent: boolean;
  /** Reaches beyond this workspace: models, commands. */
  readonly openWorld: boolean;
  /** Fields that are whole contract objects, by the name of the object. */
  readonly contracts?: Readonly<Record<string, string>>;
}

type Field<N extends OperationName> = keyof Input<N> & string;

/** What a tool says about one of its verbs; the fields are those of the operation, or names that stand for them. */
interface VerbHints<N extends OperationName, R extends string> extends Pick<ToolVerb, "action" | "caged"> {
  readonly fields: readonly (Field<N> | NoInfer<R>)[];
  readonly renamed?: Readonly<Record<R, Field<N>>>;
  readonly defaults?: Partial<Input<N>>;
  readonly part?: keyof Output<N> & string;
}

/** Binds a verb of a tool to its operation. */
export function defineToolVerb<N extends OperationName, R extends string = never>(
  operation: N,
  hints: VerbHints<N, R>,
): ToolVerb {
  return { operation, ...hints };
}

const MESSAGE = ["message", "run_id"] as const;
const PAGE = ["after", "limit"] as const;
const BEAT = ["text", "world_id", "request_id", "at", "timezone", "pause", "resume", "cursor"] as const;
const WORLD = { world_id: "world" } as const;

/**
 * The tools in the order in which they are listed. Eight, because every client pays for the list in every conversation.
 * Fields that name files of this machine are left out, except where a file of the workspace is what is asked about.
 */
const TOOLS: readonly ToolPlan[] = [
  {
    name: "context_search",
    title: "Search the context",
    description:
      "Find sections by words. Results are addresses (ref, slice) with a short preview; read them with context_expand.",
    verbs: [defineToolVerb("context.search", { action: "search", caged: true, fields: ["query", "limit", "refresh"] })],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "context_expand",
    title: "Read exact slices",
    description: "Read exact slices of sections or symbols. Charged against a budget, recorded, bound to a hash.",
    verbs: [
      defineToolVerb("context.expand", {
        action: "expand",
        caged: true,
        fields: ["refs", "slice", "run_id", ...BUDGET_FIELDS, "refresh"],
      }),
    ],
    idempotent: false,
    openWorld: false,
  },
  {
    name: "context_pack",
    title: "Pack files for a task",
    description: "Pack the files of a file request within its budget; what is left out is listed with the reason.",
    verbs: [defineToolVerb("workflow.pack", { action: "pack", caged: true, fields: ["file_request"] })],
    idempotent: false,
    openWorld: false,
    contracts: { file_request: "workflow/file-request" },
  },
  {
    name: "job_submit",
    title: "Run a job",
    description:
      "submit: post a message and run its job. plan: only show steps and charges. post: store it. run, cancel: a job by id.",
    verbs: [
      defineToolVerb("jobs.submit", { action: "submit", fields: [...MESSAGE, "workers"] }),
      defineToolVerb("jobs.plan", { action: "plan", caged: true, fields: MESSAGE }),
      defineToolVerb("jobs.post", { action: "post", fields: MESSAGE }),
      defineToolVerb("jobs.run", { action: "run", fields: ["job_id", "workers"] }),
      defineToolVerb("jobs.cancel", { action: "cancel", fields: ["job_id"] }),
    ],
    idempotent: false,
    openWorld: true,
    contracts: { message: "jobs/message" },
  },
  {
    name: "job_status",
    title: "Show jobs",
    description: "status: the state of each step of a job. receipts: its receipts. list: the jobs of this workspace.",
    verbs: [
      defineToolVerb("jobs.status", { action: "status", caged: true, fields: ["job_id", ...PAGE] }),
      defineToolVerb("jobs.receipts", { action: "receipts", caged: true, fields: ["job_id", ...PAGE] }),
      defineToolVerb("jobs.list", { action: "list", caged: true, fields: [...PAGE, "open"] }),
    ],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "patch_check",
    title: "Check a patch",
    description: "Check a unified diff with the patch gate: what it would change, or the rule and line that reject it.",
    verbs: [
      defineToolVerb("workflow.patch-check", { action: "check", caged: true, fields: ["patch", "no_git", "format"] }),
    ],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "bundle_verify",
    title: "Verify a bundle",
    description: "Verify a bundle of this workspace offline: integrity always, who made it with a trust policy.",
    verbs: [
      defineToolVerb("jobs.bundle-verify", {
        action: "verify",
        caged: true,
        fields: ["path", "strict", "trust", "attestation"],
      }),
    ],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "world_beat",
    title: "Play a world",
    description:
      "beat: say text or let a beat pass. projection: what a viewer may see. search, capsule: exact lines. list: the worlds.",
    verbs: [
      defineToolVerb("world.say", {
        action: "beat",
        fields: BEAT,
        renamed: WORLD,
        defaults: { text: "" },
        part: "output",
      }),
      defineToolVerb("world.projection", {
        action: "projection",
        fields: ["world_id", "viewer", "cursor", "before", "limit"],
        renamed: { ...WORLD, cursor: "after" },
      }),
      defineToolVerb("world.search", {
        action: "search",
        fields: ["query", "world_id", "viewer", "person", "from", "to", "limit"],
        renamed: WORLD,
      }),
      defineToolVerb("world.capsule", {
        action: "capsule",
        fields: ["person", "world_id", "viewer"],
        renamed: WORLD,
      }),
      defineToolVerb("world.list", { action: "list", fields: [] }),
    ],
    idempotent: false,
    openWorld: true,
  },
];

/**
 * The tools of a surface. An agent in its cage gets what reads: this server runs outside the cage, so a job it could run
 * would write to the tree that is read-only to it, and the worlds are not its own.
 */
export function toolsFor(isCaged: boolean): readonly ToolPlan[] {
  if (!isCaged) return TOOLS;
  return TOOLS.flatMap((tool) => {
    const [first, ...more] = tool.verbs.filter(({ caged }) => caged === true);
    return first === undefined ? [] : [{ ...tool, verbs: [first, ...more] as const }];
  });
}
