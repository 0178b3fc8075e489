import { ask, askFor, type Input, newKey, type Output, orKept, sendBytes } from "./client.ts";
import { currentAccess } from "./session.ts";

// The routes of worlds. What they take and answer is what their operations take and answer; there is no other declaration.

export type ListedWorld = Output<"world.list">["worlds"][number];
export type Page = Output<"world.projection">;
export type Line = Page["entries"][number];
export type Meta = Page["meta"][number];
export type Pocket = Page["pocket"];
export type People = Output<"world.people">;
export type Imported = Output<"world.import-bytes">;

type Shown = Output<"world.show">;
/** A world as its reader is shown it: settings, counts and positions are the owner's. */
export type World = Pick<Shown, "world_id" | "people" | "story_id" | "kept_world_id" | "writer"> &
  Partial<Pick<Shown, "world_time" | "timezone" | "paused" | "settings" | "head" | "parent" | "scene_no">> & {
    readonly title?: string;
    readonly operator_id?: string;
    readonly operator_name?: string;
  };

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

function at(world: string, path = "", query: Query = {}): string {
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  const place = world === "" ? "/worlds" : `/worlds/${encodeURIComponent(world)}`;
  return `${place}${path}${text === "" ? "" : `?${text}`}`;
}

const id = encodeURIComponent;

/** What somebody reads, which is kept for when the server is away: for this reader of this session only. */
function read<T>(path: string): Promise<T> {
  return orKept(`world ${path}`, () => ask<T>("GET", path));
}

/** How a beat ended, and what it showed. */
export interface BeatEnd {
  readonly result: string;
  readonly code: string | null;
}

/** How a beat is to be run besides its words. */
export interface Wishes {
  readonly speaker?: string | undefined;
  readonly corrects?: string | undefined;
  readonly writer?: "on" | "off" | undefined;
}

export interface Declared {
  readonly at: string | null;
  readonly timezone: string | null;
  readonly pause: boolean | null;
}

export const worldsApi = {
  list: (query: Query) => read<Output<"world.list">>(at("", "", query)),
  make: (input: Input<"world.new">) => ask<Output<"world.new">>("POST", at(""), input),
  show: (world: string) => read<World>(at(world)),
  people: (world: string) => read<People>(at(world, "/people")),
  page: (world: string, query: Query, signal?: AbortSignal) =>
    query["after"] === undefined && query["before"] === undefined && query["around"] === undefined
      ? read<Page>(at(world, "/projection", query))
      : ask<Page>("GET", at(world, "/projection", query), undefined, signal),
  find: (world: string, query: Query, signal?: AbortSignal) =>
    ask<Output<"world.find">>("GET", at(world, "/find", query), undefined, signal),
  capsule: (world: string, person: string, viewer?: string) =>
    read<Output<"world.capsule">>(at(world, `/capsules/${id(person)}`, { viewer })),
  calendar: (world: string, viewer?: string) => read<Output<"world.calendar">>(at(world, "/calendar", { viewer })),
  count: (world: string, text: string) => ask<Output<"world.count">>("POST", at(world, "/count"), { text }),
  stop: (world: string, request: string) =>
    ask<Output<"world.stop">>("DELETE", at(world, `/invocations/${id(request)}`)),
  presence: (world: string, present: readonly string[]) =>
    ask<Output<"world.presence">>("PUT", at(world, "/presence"), { present }),
  scene: (world: string, text: string) => ask<Output<"world.scene">>("POST", at(world, "/scene"), { text }),
  addPerson: (world: string, person: { readonly person_id: string; readonly display_name: string }) =>
    ask<Output<"world.people-add">>("POST", at(world, "/people"), person),
  versions: (world: string, of: string) => ask<Output<"world.versions">>("GET", at(world, "/versions", { of })),
  makeVersion: (world: string, of: string) =>
    ask<Output<"world.version-make">>("POST", at(world, "/versions"), { of, request_id: `studio-${newKey()}` }),
  keep: (world: string, kept: string) => ask<Output<"world.keep">>("PUT", at(world, "/kept"), { world_id: kept }),
  edit: (world: string, entry: string, text: string, request_id: string) =>
    ask<Output<"world.edit">>("POST", at(world, `/entries/${id(entry)}/edit`), { text, request_id }),
  fork: (world: string, cursor: string, title: string) =>
    ask<Output<"world.fork">>("POST", at(world, "/fork"), { cursor, title }),
  pins: (world: string, viewer?: string) => ask<Output<"world.pins">>("GET", at(world, "/pins", { viewer })),
  pin: (world: string, entry_id: string, quote: string) =>
    ask<Output<"world.pin">>("POST", at(world, "/pins"), { entry_id, quote }),
  unpin: (world: string, pin: string) => ask<Output<"world.unpin">>("DELETE", at(world, `/pins/${id(pin)}`)),
  previewTime: (world: string, query: Query) =>
    ask<Output<"world.time-preview">>("GET", at(world, "/time/preview", query)),
  beats: (world: string, query: Query) => ask<Output<"world.beats">>("GET", at(world, "/beats", query)),
  calls: (world: string, request_id: string) =>
    ask<Output<"world.calls">>("GET", at(world, "/calls", { request_id, limit: 100 })),
  call: (world: string, call: string) => ask<Output<"world.call">>("GET", at(world, `/calls/${id(call)}`)),
  verify: (world: string) => ask<{ readonly ok: boolean }>("GET", at(world, "/verify")),
  exported: (world: string) => askFor("GET", at(world, "/export", { kind: "full" })),
  settings: (world: string, patch: object) => ask<Output<"world.settings-set">>("PATCH", at(world, "/settings"), patch),
  tokens: (world: string) => ask<Output<"world.tokens">>("GET", at(world, "/tokens")),
  makeToken: (world: string, input: { readonly person_id: string; readonly role: string; readonly label?: string }) =>
    ask<Output<"world.token-make">>("POST", at(world, "/tokens"), input),
  revokeToken: (world: string, token: string) =>
    ask<Output<"world.token-revoke">>("DELETE", at(world, `/tokens/${id(token)}`)),
  testWriter: (writer: object) => ask<Output<"world.writer-test">>("POST", "/worlds/writer/test", { writer }),
  models: (place: { readonly kind: string; readonly base_url: string | null; readonly api_key_env: string | null }) =>
    ask<Output<"world.writer-models">>("POST", "/worlds/writer/models", place),
  import: (bytes: Uint8Array<ArrayBuffer>, preview: boolean) =>
    sendBytes<Imported>("POST", at("", "/import", preview ? { preview } : {}), bytes),
  importInto: (world: string, bytes: Uint8Array<ArrayBuffer>, preview: boolean) =>
    sendBytes<Imported>("POST", at(world, "/imports", preview ? { preview } : {}), bytes),
};

/** Sends words, or nothing so that a beat passes. The same id is answered with the same beat, however often it is sent. */
export async function sendBeat(
  world: string,
  operator: string,
  request_id: string,
  text: string,
  wishes: Wishes = {},
  declared: Declared | null = null,
): Promise<BeatEnd> {
  const envelope: object = {
    request_id,
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id: operator, input_text: text },
    mode: { kind: "BEAT" },
    ...(declared === null
      ? {}
      : {
          declared_overrides: {
            time: { declared_world_time: declared.at, timezone: declared.timezone },
            pause_time: declared.pause,
          },
        }),
  };
  const answer = await askFor("POST", at(world, "/invocations", { ...wishes }), envelope);
  await answer.arrayBuffer();
  return {
    result: answer.headers.get("verbatim-beat-result") ?? "",
    code: answer.headers.get("verbatim-beat-code"),
  };
}

/** A name for one wish to speak. Those of players begin with their person. */
export function newRequestId(): string {
  const { role, viewer } = currentAccess();
  return role === "player" && viewer !== null ? `${viewer}.${newKey()}` : `studio-${newKey()}`;
}

export function streamPath(world: string, viewer: string | undefined): string {
  return at(world, "/stream", { viewer });
}
