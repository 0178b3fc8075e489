import type { Input, OperationName, Output } from "../../app/operations.ts";
import { BUDGET_FIELDS } from "../../core/text/index.ts";
import type { Blocks } from "./answer.ts";
import { toPlaces } from "./places.ts";
import { toQuotes } from "./quotes.ts";

/** One thing a tool can do: an operation of the table, and which of its fields this surface takes. */
export interface ToolVerb {
  readonly action: string;
  readonly operation: OperationName;
  readonly fields: readonly string[];
  /** Fields that have to be there: what the operation would read from elsewhere, a tool cannot. */
  readonly needs?: readonly string[];
  /** Fields that have another name in the operation, and which. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Fields that may be left out here, and what they are then. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Fields, and their defaults, that an agent in its cage does not have: what would change the store for everybody. */
  readonly ownerFields?: readonly string[];
  /** Member of the output that is the answer; what is next to it goes into `_meta` under this verb's name. */
  readonly part?: string;
  /** Where an output quotes exact texts: the record without them, and the texts for blocks of their own. */
  readonly split?: (output: Readonly<Record<string, unknown>>) => Blocks;
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
  readonly ownerFields?: readonly Field<N>[];
  readonly needs?: readonly Field<N>[];
  readonly renamed?: Readonly<Record<R, Field<N>>>;
  readonly defaults?: Partial<Input<N>>;
  readonly part?: keyof Output<N> & string;
  readonly split?: (output: Output<N>) => Blocks;
}

/** Binds a verb of a tool to its operation. */
export function defineToolVerb<N extends OperationName, R extends string = never>(
  operation: N,
  hints: VerbHints<N, R>,
): ToolVerb {
  const { split, ...rest } = hints;
  // What is split was parsed by the output schema of this operation.
  return { operation, ...rest, ...(split === undefined ? {} : { split: (output) => split(output as Output<N>) }) };
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
      "Find places in the files of this workspace by words. Usual sequence: context_search with 2 to 4 words that must stand " +
      "there, then the call in next, which reads the best places with context_expand, then context_search with other words " +
      "if it is not there. Each result has a ref and a slice to pass on unchanged; previews are only to choose by. The index " +
      "is built or updated first.",
    verbs: [
      defineToolVerb("context.search", {
        action: "search",
        caged: true,
        fields: ["query", "limit", "refresh"],
        ownerFields: ["refresh"],
        defaults: { refresh: true, limit: 8 },
        split: (output) => ({ record: toPlaces(output), texts: [] }),
      }),
    ],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "context_expand",
    title: "Read exact slices",
    description:
      "Read exact text: the first block is the record (path, lines, hash), each following block is the text of one ref. Take " +
      "several refs in one call. Without a slice a path gives the section, or its first 80 lines; more has the call that goes on. " +
      "Charged against a budget and recorded.",
    verbs: [
      defineToolVerb("context.expand", {
        action: "expand",
        caged: true,
        fields: ["refs", "slice", "run_id", ...BUDGET_FIELDS, "refresh"],
        ownerFields: ["refresh"],
        defaults: { refresh: true },
        split: toQuotes,
      }),
    ],
    idempotent: false,
    openWorld: false,
  },
  {
    name: "context_pack",
    title: "Pack files for a task",
    description:
      "Pack whole files or line ranges for a task within a budget: the first block is the summary, the second the pack. What " +
      "is left out is listed with the reason. For single places use context_search and context_expand.",
    verbs: [
      defineToolVerb("workflow.pack", {
        action: "pack",
        caged: true,
        fields: ["file_request"],
        needs: ["file_request"],
        split: ({ summary, sha256, text }) => ({ record: { summary, sha256 }, texts: [text] }),
      }),
    ],
    idempotent: false,
    openWorld: false,
    contracts: { file_request: "workflow/file-request" },
  },
  {
    name: "job_submit",
    title: "Run a job",
    description:
      "Run work as a recorded job. submit: post a message and run it. plan: only show steps and charges. post: store it. run, " +
      "cancel: a job by id. See how it went with job_status.",
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
    description:
      "status: the state of each step of a job. receipts: its receipts. list: the jobs of this workspace. Long answers have " +
      "pages: after, limit.",
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
    description:
      "Check a unified diff (with diff --git headers) before proposing it; nothing is applied. Usual sequence: patch_check, " +
      "repair the line that result and advice name (context_expand shows what is there now), patch_check again until the " +
      "verdict is accept.",
    verbs: [
      defineToolVerb("workflow.patch-check", {
        action: "check",
        caged: true,
        fields: ["patch", "no_git", "format"],
        needs: ["patch"],
      }),
    ],
    idempotent: true,
    openWorld: false,
  },
  {
    name: "bundle_verify",
    title: "Verify a bundle",
    description: "Verify a bundle in this workspace offline: integrity always, who made it with a trust policy.",
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
      "Play a world. beat: say text or let a beat pass. projection: what a viewer may see. search, capsule: exact lines. list: " +
      "the worlds.",
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
    const [first, ...more] = tool.verbs.filter(({ caged }) => caged === true).map(withoutOwnerFields);
    return first === undefined ? [] : [{ ...tool, verbs: [first, ...more] as const }];
  });
}

function withoutOwnerFields(verb: ToolVerb): ToolVerb {
  const { ownerFields = [], defaults = {} } = verb;
  const isLeft = (field: string) => !ownerFields.includes(field);
  const left = Object.entries(defaults).filter(([field]) => isLeft(field));
  return { ...verb, fields: verb.fields.filter(isLeft), defaults: Object.fromEntries(left) };
}
