/** A route that is neither an operation nor of worlds, as the OpenAPI document has it. */
interface OwnRoute {
  readonly method: "get" | "post" | "delete";
  readonly path: string;
  readonly summary: string;
  readonly who: "anyone" | "owner" | "whoever has a session";
  readonly query?: Readonly<Record<string, object>>;
  readonly body?: object;
  /** Status and type of what comes back; null: nothing does. */
  readonly answer: { readonly status: number; readonly type: string | null; readonly schema?: object };
  readonly headers?: readonly string[];
}

const text = { type: "string" } as const;
const json = "application/json";
const octets = "application/octet-stream";

const TASK = {
  type: "object",
  properties: {
    task_id: text,
    operation: text,
    state: { enum: ["waiting", "running", "done", "failed", "cancelled"] },
    progress: { type: ["object", "null"] },
    made_at: text,
    ended_at: { type: ["string", "null"] },
    output: {},
    error: { type: "object" },
  },
  required: ["task_id", "operation", "state", "progress", "made_at", "ended_at"],
} as const;

/** Routes for bytes, streams and what belongs to the server itself. */
export const OWN_ROUTES: readonly OwnRoute[] = [
  {
    method: "get",
    path: "/api/health",
    summary: "Whether the server works.",
    who: "anyone",
    answer: { status: 200, type: json, schema: { type: "object", properties: { ok: { type: "boolean" } } } },
  },
  {
    method: "get",
    path: "/api/metrics",
    summary: "Figures for monitoring, in the text format of Prometheus.",
    who: "owner",
    answer: { status: 200, type: "text/plain" },
  },
  {
    method: "post",
    path: "/api/session",
    summary: "Exchanges a link or a token for a session.",
    who: "anyone",
    body: {
      oneOf: [
        { type: "object", properties: { code: text }, required: ["code"], additionalProperties: false },
        { type: "object", properties: { token: text }, required: ["token"], additionalProperties: false },
      ],
    },
    answer: {
      status: 200,
      type: json,
      schema: {
        type: "object",
        properties: {
          session: { type: "string", description: "Sent as Authorization: Bearer." },
          id: text,
          role: { enum: ["owner", "operator", "player", "viewer"] },
          world_id: { type: ["string", "null"] },
          viewer: { type: ["string", "null"] },
          expires_at: text,
        },
      },
    },
  },
  {
    method: "post",
    path: "/api/session/link",
    summary: "Makes a code that opens one session in another browser, once, within ten minutes.",
    who: "owner",
    answer: {
      status: 200,
      type: json,
      schema: { type: "object", properties: { code: text, expires_at: text } },
    },
  },
  {
    method: "delete",
    path: "/api/session",
    summary: "Ends the session that asks.",
    who: "whoever has a session",
    answer: { status: 204, type: null },
  },
  {
    method: "delete",
    path: "/api/session/:id",
    summary: "Ends a session.",
    who: "owner",
    answer: { status: 204, type: null },
  },
  {
    method: "post",
    path: "/api/tasks",
    summary: "Begins a call that takes long, or finds the one that was begun under this key.",
    who: "owner",
    body: {
      type: "object",
      properties: {
        operation: text,
        input: { type: "object" },
        key: { type: "string", pattern: "^[\\x21-\\x7e]{1,128}$" },
      },
      required: ["operation", "key"],
      additionalProperties: false,
    },
    answer: { status: 202, type: json, schema: TASK },
  },
  {
    method: "get",
    path: "/api/tasks/:task",
    summary: "How far a task is, and what came of it.",
    who: "owner",
    answer: { status: 200, type: json, schema: TASK },
  },
  {
    method: "delete",
    path: "/api/tasks/:task",
    summary: "Cancels a task.",
    who: "owner",
    answer: { status: 202, type: json, schema: TASK },
  },
  {
    method: "get",
    path: "/api/events",
    summary: "What happens, as server-sent events; Last-Event-ID goes on where a client was.",
    who: "owner",
    answer: { status: 200, type: "text/event-stream" },
  },
  {
    method: "get",
    path: "/api/runs/:run/output",
    summary: "What an attempt or a verification of a run printed, at most 256 KiB from a position on.",
    who: "owner",
    query: {
      of: { enum: ["output", "errors", "verify", "verify_errors"] },
      n: { type: "integer", minimum: 1 },
      from: { type: "integer", minimum: 0 },
      wait: { type: "integer", minimum: 0, maximum: 20 },
    },
    answer: { status: 200, type: octets, schema: { type: "string", format: "binary" } },
    headers: ["Verbatim-First", "Verbatim-Next", "Verbatim-Size", "Verbatim-Ended"],
  },
  {
    method: "get",
    path: "/api/runs/:run/files/:path",
    summary: "A file of the record of a run; the path may have slashes.",
    who: "owner",
    answer: { status: 200, type: octets, schema: { type: "string", format: "binary" } },
  },
  {
    method: "get",
    path: "/api/runs/:run/archive",
    summary: "Every file of the record of a run, as a ZIP.",
    who: "owner",
    answer: { status: 200, type: octets, schema: { type: "string", format: "binary" } },
  },
  {
    method: "get",
    path: "/api/ledger/export",
    summary: "Every entry as one line of canonical JSON, in global order or in the order of one stream.",
    who: "owner",
    query: { stream: text },
    answer: { status: 200, type: octets, schema: { type: "string", format: "binary" } },
  },
];

/** The routes as paths of an OpenAPI document. */
export function toOwnPaths(error: object): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of OWN_ROUTES) {
    const template = toTemplate(route.path);
    paths[template] = { ...paths[template], [route.method]: toOperation(route, error) };
  }
  return paths;
}

function toOperation(
  { method, path, summary, who, query = {}, body, answer, headers = [] }: OwnRoute,
  error: object,
): object {
  const inPath = listParameters(path).map((name) => ({ name, in: "path", required: true, schema: text }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
  const { status, type, schema = {} } = answer;
  return {
    operationId: toOperationId(method, path),
    summary,
    description: `For: ${who}.`,
    ...(who === "anyone" ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery],
    ...(body === undefined ? {} : { requestBody: { required: true, content: { [json]: { schema: body } } } }),
    responses: {
      [status]: {
        description: "Done.",
        ...(headers.length === 0
          ? {}
          : { headers: Object.fromEntries(headers.map((name) => [name, { schema: text }])) }),
        ...(type === null ? {} : { content: { [type]: { schema } } }),
      },
      default: error,
    },
  };
}

/** `get_runs_run_output`: a name for a route that no operation has. */
export function toOperationId(method: string, path: string): string {
  return `${method}_${path.replace(/^\/api\//, "").replace(/[^A-Za-z]+/g, "_")}`.replace(/_+$/, "");
}

export function listParameters(path: string): string[] {
  return [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => name!);
}

export function toTemplate(path: string): string {
  return path.replace(/:([a-z]+)/g, "{$1}");
}
