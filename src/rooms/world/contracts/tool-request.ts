import { Float, type JsonValue } from "../../../core/canonical/index.ts";
import { isSomebody } from "../people/cast.ts";
import { parseInstant } from "../time/instant.ts";
import { type CheckContext, requestId, timeText } from "./context.ts";
import {
  type Field,
  optional,
  optionalObject,
  readObject,
  refuse,
  required,
  SHORT_ID_PATTERN,
  text,
} from "./fields.ts";

export const WRITER_ENGINE = "ENGINE_9_LLM_WRITER";
export const TOOLS = ["LEDGER_SEARCH", "LEDGER_GET", "CAPSULE_GET", "SCENE_PACK_BUILD"] as const;
type ToolName = (typeof TOOLS)[number];

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
const MAX_QUERY_BYTES = 2000;

/** A tool request with its window as instants. */
export interface ToolRequest {
  readonly tool_request_id: string | null;
  readonly name: ToolName;
  readonly query_text: string | null;
  readonly limit: number;
  /** Whether the writer said how many; without a number, whoever names entries wants all of them. */
  readonly has_limit: boolean;
  readonly person_id: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

type Context = Pick<CheckContext, "cast" | "request_id" | "actor" | "used_ids">;

/**
 * World Contracts 5: a writer asks the ledger. In the short form the ids and who asks may be left out; what is there
 * must be right all the same.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkToolRequest>[1];
 * const request = checkToolRequest(parseJson(await readFile("request.json")), context);
 */
export function checkToolRequest(
  value: JsonValue,
  context: Context,
  form: "full" | "short" = "full",
  where = "",
): ToolRequest {
  const known = <T>(read: (member: JsonValue, at: string) => T): Field<T | null> =>
    form === "full" ? required<T | null>(read) : optional(read);
  const request = readObject(value, where, {
    tool_request_id: known(text({ pattern: SHORT_ID_PATTERN, rule: (id, at) => requireUnused(context, id, at) })),
    request_id: known(requestId(context)),
    requested_by: (form === "full" ? required : optionalObject)((by: JsonValue, at: string) =>
      readObject(by, at, {
        engine: known(text({ values: [WRITER_ENGINE] })),
        actor: known(text({ rule: (actor, place) => requireActor(context, actor, place) })),
        knowledge_view: known(text({ rule: (view, place) => requireView(context, view, place) })),
      }),
    ),
    tool: required((tool, at) => readTool(tool, at, context)),
  });
  return { tool_request_id: request.tool_request_id, ...request.tool };
}

function readTool(value: JsonValue, where: string, context: Context): Omit<ToolRequest, "tool_request_id"> {
  let name: ToolName | undefined;
  const tool = readObject(value, where, {
    name: required(
      text<ToolName>({ values: TOOLS, valueCode: "TOOL_UNKNOWN", rule: (known) => void (name = known as ToolName) }),
    ),
    query_text: {
      read: (query: JsonValue, at: string): string | null => readQuery(name, query, at),
      absent: (at: string) => (needsQuery(name) ? refuse("FIELD_MISSING", at, "is required") : null),
    },
    constraints: optionalObject((constraints, at) =>
      readObject(constraints, at, {
        time_window: optionalObject(readWindow),
        limit: optional(readLimit),
        person_id: {
          read: (id: JsonValue, place: string): string | null => readSomebody(context, id, place),
          absent: (place: string) =>
            name === "CAPSULE_GET" ? refuse("FIELD_MISSING", place, "a capsule needs a person") : null,
        },
      }),
    ),
  });
  const { time_window, limit, person_id } = tool.constraints;
  const has_limit = limit !== null;
  return {
    name: tool.name,
    query_text: tool.query_text,
    limit: limit ?? DEFAULT_LIMIT,
    has_limit,
    person_id,
    ...time_window,
  };
}

function needsQuery(name: ToolName | undefined): boolean {
  return name === "LEDGER_SEARCH" || name === "LEDGER_GET";
}

function readQuery(name: ToolName | undefined, value: JsonValue, where: string): string {
  const query = text({ mayBeEmpty: true, maxBytes: MAX_QUERY_BYTES })(value, where);
  if (name === "LEDGER_GET" && query.trim() === "") refuse("FIELD_EMPTY", where, "must name at least one entry id");
  return query;
}

function readWindow(value: JsonValue, where: string): { from: number | null; to: number | null } {
  const window = readObject(value, where, { from: optional(timeText), to: optional(timeText) });
  const from = window.from === null ? null : parseInstant(window.from, `${where}/from`);
  const to = window.to === null ? null : parseInstant(window.to, `${where}/to`);
  if (from !== null && to !== null && from > to) refuse("TIME_WINDOW_INVERTED", where, "from is after to");
  return { from, to };
}

function readLimit(value: JsonValue, where: string): number {
  const limit = value instanceof Float ? value.value : value;
  if (typeof limit !== "number" && typeof limit !== "bigint") return refuse("FIELD_TYPE", where, "must be a number");
  if (typeof limit === "bigint" || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    refuse("LIMIT_OUT_OF_RANGE", where, `is ${limit}, must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  return Number(limit);
}

function requireUnused({ used_ids: used }: Context, id: string, where: string): void {
  if (used?.includes(id) === true) refuse("TOOL_REQUEST_ID_REUSED", where, `${id} was already used`);
}

function requireActor({ actor }: Context, value: string, where: string): void {
  if (actor !== undefined && value !== actor) refuse("ACTOR_DENIED", where, `must be ${actor}`);
}

function requireView({ actor }: Context, value: string, where: string): void {
  if (actor === undefined || value === actor || value === `${actor}_VIEW`) return;
  refuse("KNOWLEDGE_VIEW_DENIED", where, `must be ${actor}`);
}

function readSomebody({ cast }: Context, value: JsonValue, where: string): string {
  const id = text()(value, where);
  return isSomebody(cast, id)
    ? id
    : refuse("PERSON_UNKNOWN", where, `there is no person ${JSON.stringify(id)} in this world`);
}
