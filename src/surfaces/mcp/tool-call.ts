import { randomBytes } from "node:crypto";
import type { App } from "../../app/call.ts";
import type { CallOptions } from "../../app/compose/compose.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Answers, ToolAnswer } from "./answer.ts";
import type { FreshIndex } from "./fresh-index.ts";
import type { ToolPlan, ToolVerb } from "./tool-table.ts";

type Input = Record<string, unknown>;

interface ToolOptions extends CallOptions {
  readonly onFailure: (thrown: unknown) => void;
  /** Brings the index up to date; null where the server only reads. */
  readonly index: FreshIndex | null;
}

/** Calls the operation a tool stands for. Refusals of ours are answers too; the model can act on them. */
export async function callTool(
  app: App,
  tool: ToolPlan,
  asked: Input,
  answers: Answers,
  options: ToolOptions,
): Promise<ToolAnswer> {
  const { onFailure, index, ...during } = options;
  try {
    const { verb, input } = readInput(tool, asked);
    if (input["refresh"] === true) {
      // Built here, where calls take turns; the operation itself then has nothing left to refresh.
      await index?.ensure(during);
      input["refresh"] = false;
    }
    const toAnswer = (output: unknown): ToolAnswer => pickAnswer(answers, verb, output as Record<string, unknown>);
    const assertDeliverable = (output: unknown): void => void toAnswer(output);
    const run = (whole: Input) => app.callUnknown(verb.operation, whole, { ...during, assertDeliverable });
    const isBeat = during.signal !== undefined && BEATS.has(verb.operation);
    const output = isBeat ? await runBeat(app, input, options, run) : await run(input);
    return toAnswer(output);
  } catch (thrown) {
    onFailure(thrown);
    return answers.refuse(thrown);
  }
}

function readInput(tool: ToolPlan, asked: Input): { readonly verb: ToolVerb; readonly input: Input } {
  const { action, ...rest } = tool.verbs.length > 1 ? asked : { ...asked, action: undefined };
  if (tool.verbs.length === 1 && Object.hasOwn(asked, "action")) throw refuseField(tool, tool.verbs[0], "action");
  const verb = action === undefined ? tool.verbs[0] : tool.verbs.find((one) => one.action === action);
  if (verb === undefined) {
    const actions = tool.verbs.map((one) => one.action).join(", ");
    throw invalid("/action", `not one of ${actions}`);
  }
  const foreign = Object.keys(rest).find((field) => !verb.fields.includes(field));
  if (foreign !== undefined) throw refuseField(tool, verb, foreign);
  const missing = verb.needs?.find((field) => rest[field] === undefined);
  if (missing !== undefined) throw invalid(`/${missing}`, "is missing");
  const whole = Object.entries({ ...verb.defaults, ...rest });
  return { verb, input: Object.fromEntries(whole.map(([field, value]) => [verb.renamed?.[field] ?? field, value])) };
}

/** The contract object where an output only carries one, how it came about next to it; exact texts in their own blocks. */
function pickAnswer(answers: Answers, { part, operation, split }: ToolVerb, output: Input): ToolAnswer {
  if (split !== undefined) return answers.answer(split(output));
  if (part === undefined) return answers.answer({ record: output, texts: [] });
  const { [part]: picked, ...beside } = output;
  return { ...answers.answer({ record: picked, texts: [] }), _meta: { [`verbatim/${operation}`]: beside } };
}

/** A field of the operation that this surface does not take is as unknown as any other. */
function refuseField(tool: ToolPlan, verb: ToolVerb, field: string): VerbatimError {
  const name = tool.verbs.length > 1 ? `${tool.name} with the action ${verb.action}` : tool.name;
  return invalid(
    `/${field.slice(0, 100)}`,
    `${name} has no such field; its fields are ${verb.fields.join(", ") || "none"}`,
  );
}

function invalid(pointer: string, message: string): VerbatimError {
  const problems = [{ pointer, message }];
  return new VerbatimError("INPUT_INVALID", {
    message: `${pointer}: ${message}`,
    where: pointer,
    details: { problems },
  });
}

const BEATS: ReadonlySet<string> = new Set(["world.say"]);

/** A beat that the client gives up on is stopped as the operator would; what was said is kept. */
async function runBeat(
  app: App,
  input: Input,
  { signal, onFailure }: { readonly signal?: AbortSignal; readonly onFailure: (thrown: unknown) => void },
  run: (input: Input) => Promise<unknown>,
): Promise<unknown> {
  const request_id = input["request_id"] ?? `mcp-${randomBytes(8).toString("hex")}`;
  const world = input["world"] === undefined ? {} : { world: input["world"] };
  const stopping: Promise<unknown>[] = [];
  const stop = () => void stopping.push(app.callUnknown("world.stop", { ...world, request_id }).catch(onFailure));
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await run({ ...input, request_id });
  } finally {
    signal?.removeEventListener("abort", stop);
    await Promise.all(stopping);
  }
}
