import {
  type McpRequestContext,
  type McpServerFactory,
  ProtocolError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/call.ts";
import type { CallOptions } from "../../app/compose/compose.ts";
import type { Progress } from "../../core/ports.ts";
import { Answers, toCoded } from "./answer.ts";
import { type Cursor, formatCursor, parseCursor, refused } from "./cursor.ts";
import { FreshIndex } from "./fresh-index.ts";
import { LegacyCalls, LegacyExchange } from "./legacy-calls.ts";
import { listPrompts, writePrompt } from "./prompts.ts";
import { LIST_PARTS, type ListedResource, RUN_PARTS } from "./resource-list.ts";
import { readResource } from "./resource-read.ts";
import { RESOURCE_TEMPLATES } from "./resource-uri.ts";
import { callTool } from "./tool-call.ts";
import { type ListedTool, listTools } from "./tool-schema.ts";
import { toolsFor } from "./tool-table.ts";

export interface McpOptions {
  /** A workspace opened at the surface `mcp`. */
  readonly app: App;
  readonly version: string;
  /** Bytes a response may have at most. */
  readonly maxBytes: number;
  /** Serves an agent in its cage: only what reads. */
  readonly caged?: boolean;
  /** Told about failures that the caller must not see. */
  readonly log?: (thrown: unknown) => void;
}

/** Makes one server per connection or request, all over the same workspace, and knows when the last call has ended. */
interface McpSurface {
  readonly factory: McpServerFactory;
  /** Ends with the last call that is running; calls that were cancelled put back what they began first. */
  idle(): Promise<void>;
  /** Cancels what clients of the older protocol began over HTTP, where no connection of theirs ends it. */
  cancelAll(): void;
}

/** The header that tells the requests of one client of the older protocol from those of another. */
export const SESSION_HEADER = "mcp-session-id";

const INSTRUCTIONS =
  "Text is addressed, not dumped. To read: context_search, then the call in next (context_expand with ready-made refs). To " +
  "change: write a unified diff and patch_check it until the verdict is accept. Answers are JSON in the first text block; exact " +
  "texts follow in blocks of their own. A refusal has error.code and error.fix; do what fix says instead of trying again.";

const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;
const REFUSED = -32_000;

export function createMcpSurface(options: McpOptions): McpSurface {
  const { app, version, log = () => undefined } = options;
  const caged = options.caged === true;
  const answers = new Answers(options.maxBytes, caged);
  const running = new Set<Promise<unknown>>();
  const legacyCalls = new LegacyCalls();
  const plans = toolsFor(caged);
  const index = caged ? null : new FreshIndex(app);
  let tools: Promise<ListedTool[]> | undefined;

  const track = async <T>(call: Promise<T>): Promise<T> => {
    running.add(call);
    try {
      return await call;
    } finally {
      running.delete(call);
    }
  };
  const onFailure = (thrown: unknown) => {
    if (toCoded(thrown).code === "INTERNAL") log(thrown);
  };
  /** What is no tool has no result that could carry a refusal: it is an error of the protocol with ours inside. */
  const orProtocolError = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await track(call);
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) onFailure(thrown);
      throw toProtocolError(thrown, answers);
    }
  };
  const during = (context: ServerContext) => {
    const progress = toNotifications(context, log);
    return { signal: context.mcpReq.signal, ...(progress === undefined ? {} : { progress }) };
  };

  /** What a prompt says, and after it what it is about: a client need not be able to read resources. */
  const getPrompt = async (
    name: string,
    given: Readonly<Record<string, string>>,
    options: CallOptions & { readonly caged: boolean },
  ) => {
    const prompt = writePrompt(name, given, caged);
    if (prompt === null) throw new ProtocolError(INVALID_PARAMS, `there is no prompt ${name.slice(0, 100)}`);
    const { description, text, attached } = prompt;
    const said = { role: "user" as const, content: { type: "text" as const, text } };
    if (attached === null) return answers.carry({ description, messages: [said] });
    const { contents } = await readResource(app, attached, answers, options);
    const shown = contents.map((resource) => ({
      role: "user" as const,
      content: { type: "resource" as const, resource },
    }));
    return answers.carry({ description, messages: [said, ...shown] });
  };

  const factory = ({ era, requestInfo }: McpRequestContext): Server => {
    const server = new Server(
      { name: "verbatim", title: "Verbatim", version },
      { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: INSTRUCTIONS },
    );
    // The newer protocol cancels by ending the request, and on standard input everything comes to one server.
    const exchange =
      era === "legacy" && requestInfo !== undefined
        ? new LegacyExchange(legacyCalls, requestInfo.headers.get(SESSION_HEADER), server)
        : null;
    const perform = <T>(context: ServerContext, call: (options: CallOptions) => Promise<T>): Promise<T> => {
      const options = during(context);
      if (exchange === null) return call(options);
      return exchange.run(context.mcpReq.id, options.signal, (signal) => call({ ...options, signal }));
    };
    server.setRequestHandler("tools/list", ({ params }) =>
      orProtocolError(
        (async () => {
          tools ??= listTools(app, plans);
          return pageTools(await tools, params?.cursor, answers);
        })(),
      ),
    );
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const tool = plans.find(({ name }) => name === params.name);
      if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `there is no tool ${params.name.slice(0, 100)}`);
      return track(
        perform(context, (options) =>
          callTool(app, tool, params.arguments ?? {}, answers, { ...options, onFailure, index }),
        ),
      );
    });
    server.setRequestHandler("resources/list", ({ params }) =>
      orProtocolError(pageResources(app, params?.cursor, answers, caged)),
    );
    server.setRequestHandler("resources/templates/list", () => ({
      resourceTemplates: RESOURCE_TEMPLATES.filter(({ uriTemplate }) => !caged || !uriTemplate.startsWith("run://")),
    }));
    server.setRequestHandler("resources/read", ({ params }, context) =>
      orProtocolError(perform(context, (options) => readResource(app, params.uri, answers, { ...options, caged }))),
    );
    server.setRequestHandler("prompts/list", () => ({ prompts: listPrompts(caged) }));
    server.setRequestHandler("prompts/get", ({ params }, context) =>
      orProtocolError(
        perform(context, (options) => getPrompt(params.name, params.arguments ?? {}, { ...options, caged })),
      ),
    );
    return server;
  };

  return {
    factory,
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
    cancelAll: () => legacyCalls.cancelAll(),
  };
}

function toProtocolError(thrown: unknown, answers: Answers): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const refusal = answers.refusalOf(thrown);
  const { exit } = toCoded(thrown);
  const code = exit === 2 ? INVALID_PARAMS : exit === 3 ? INTERNAL : REFUSED;
  return new ProtocolError(code, `${refusal.error.code}: ${refusal.error.message}`, refusal);
}

const PAUSE_MS = 100;

/** Progress of one call as notifications, where the client asked for them. Numbers only grow, whatever is counted. */
function toNotifications({ mcpReq }: ServerContext, onError: (thrown: unknown) => void): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let label = "";
  let before = 0;
  let counted = 0;
  let sent = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  return {
    report(step) {
      if (step.label !== label) {
        label = step.label;
        before += counted;
      }
      counted = step.done;
      const progress = before + counted;
      const now = performance.now();
      if (progress <= sent || (now - sentAt < PAUSE_MS && step.done !== step.total)) return;
      sent = progress;
      sentAt = now;
      const total = step.total === undefined ? {} : { total: before + step.total };
      const params = { progressToken, progress, ...total, message: step.label };
      mcpReq.notify({ method: "notifications/progress", params }).catch(onError);
    },
  };
}

const MOST_ITEMS = 50;

/** One page of all resources: as many as fit, and where to go on. */
async function pageResources(app: App, cursor: string | undefined, answers: Answers, caged: boolean) {
  const names = Object.keys(LIST_PARTS).filter((part) => !caged || !RUN_PARTS.includes(part));
  const place = cursor === undefined ? null : parseCursor(cursor, names);
  const resources: ListedResource["resource"][] = [];
  let last: Cursor | null = null;
  for (const part of names.slice(place === null ? 0 : names.indexOf(place.part))) {
    const after = part === place?.part ? place.after : null;
    for await (const { resource, after: here } of LIST_PARTS[part]!(app, after)) {
      const isFull =
        resources.length === MOST_ITEMS ||
        !answers.fits({ resources: [...resources, resource], nextCursor: "x".repeat(600) });
      if (isFull && last !== null) return { resources, nextCursor: formatCursor(last) };
      resources.push(resource);
      last = { part, after: here };
    }
  }
  return answers.carry({ resources });
}

/** One page of tools: all of them, unless the limit is lower than their descriptions are long. */
function pageTools(tools: readonly ListedTool[], cursor: string | undefined, answers: Answers) {
  const from = cursor === undefined ? 0 : toNumber(parseCursor(cursor, ["tools"]).after, tools.length);
  const page: ListedTool[] = [];
  for (const tool of tools.slice(from)) {
    if (page.length > 0 && !answers.fits({ tools: [...page, tool] })) {
      return { tools: page, nextCursor: formatCursor({ part: "tools", after: String(from + page.length) }) };
    }
    page.push(tool);
  }
  return answers.carry({ tools: page });
}

function toNumber(text: string, below: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number >= below) throw refused();
  return number;
}
