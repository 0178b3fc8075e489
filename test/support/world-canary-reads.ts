import type { JsonValue } from "../../src/core/canonical/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import type { Operation } from "../../src/core/operation.ts";
import { WORLD_OPERATIONS, type WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { envelope } from "./world.ts";
import { EVERYBODY, type Story } from "./world-canary-story.ts";

/** What was looked at and what was found. */
export interface Totals {
  outputs: number;
  prompts: number;
  secrets: number;
  readonly leaks: string[];
}

type Drive = (viewer: string, story: Story) => readonly object[];

/** No entry and no word of any story. */
export const NO_ENTRY = "e_aaaaaaaaaaaaaaaa";
export const NO_WORD = "zqnowherezq";

/**
 * How each operation of worlds is driven, or why it need not be:
 * a function for what shows a viewer something, `owner` for what the surfaces give to the owner only, `writes` for what
 * answers with nothing but what its caller sent. An operation that is not listed fails the canary: somebody added a
 * way to read without thinking of who may read.
 */
const OPERATIONS: Readonly<Record<string, Drive | "owner" | "writes">> = {
  "world.projection": (viewer, { cursors }) => [
    { viewer },
    { viewer, limit: 2 },
    ...["owner", "operator", "player", "viewer"].map((reader) => ({ viewer, reader, limit: 4 })),
    // A cursor of the operator holds for nobody else, whichever it is.
    ...cursors.slice(0, viewer === "GEORGE" ? cursors.length : 2).flatMap((cursor) => [
      { viewer, after: cursor },
      { viewer, before: cursor },
    ]),
  ],
  "world.follow": (viewer, { cursors }) => [{ viewer, status: true, after: cursors[0] }],
  "world.entry": (viewer, { entryIds }) => [NO_ENTRY, ...entryIds].map((entry_id) => ({ viewer, entry_id })),
  "world.search": (viewer, { secrets }) => [
    { viewer, query: NO_WORD },
    ...secrets.map(({ word }) => ({ viewer, query: word })),
    { viewer, query: "the harbour boat", limit: 20 },
    ...EVERYBODY.map((person) => ({ viewer, query: "", person, limit: 20 })),
    { viewer, query: "", from: "2020-01-01T00:00Z", limit: 20 },
  ],
  "world.capsule": (viewer) => EVERYBODY.map((person) => ({ viewer, person })),
  "world.pocket": (viewer) => [{ viewer }],
  "world.calendar": (viewer) => [{ viewer }],
  "world.export": (viewer) => [{ viewer, kind: "viewer" }],
  // A refresh writes its own answer and nothing else, so it reads.
  "world.invoke": (viewer, { cursors }) =>
    viewer !== "GEORGE"
      ? []
      : [undefined, ...cursors].map((stream_cursor, i) => ({
          envelope: envelope(`look${i}`, "", {
            mode: { kind: "NO_OP" },
            ui: stream_cursor === undefined ? {} : { stream_cursor },
          }),
        })),
  "world.invocation": (viewer, { requests }) =>
    viewer !== "GEORGE" ? [] : requests.map((request_id) => ({ request_id })),
  "world.people": () => [{}],
  "world.time": () => [{}],
  "world.show": () => [{}],
  "world.list": (viewer, { world }) => [
    { viewer, role: "viewer", story: world },
    { viewer, role: "viewer", story: world, order: "title", versions: true },
  ],
  "world.find": (viewer, { secrets }) => [
    { viewer, query: NO_WORD },
    ...secrets.map(({ word }) => ({ viewer, query: word })),
    { viewer, query: "the harbour boat", limit: 3 },
    { viewer, query: "", from: "2020-01-01T00:00Z", limit: 50 },
  ],
  "world.health": () => [{}],
  "world.metrics": () => [{}],
  "world.authorize": () => [{ token_sha256: "0".repeat(64) }],
  "world.pins": (viewer) => [{ viewer }],
  "world.tokens": "owner",
  "world.token-make": "writes",
  "world.token-revoke": "writes",
  "world.opens": (_, { world }) => [{ story: world, world: "w_nowhere", role: "viewer" }],
  "world.versions": (viewer, { requests }) =>
    viewer !== "GEORGE"
      ? []
      : [{ role: "operator" }, ...["never", ...requests].map((of) => ({ role: "operator", of }))],
  // The answer is that of world.invoke for the operator, in another world.
  "world.version-make": "writes",
  "world.edit": "writes",
  "world.keep": "writes",
  "world.beats": (viewer) => (viewer !== "GEORGE" ? [] : [{ role: "operator" }, { role: "operator", limit: 2 }]),
  "world.messages": (viewer) => [{ viewer }, { viewer, limit: 1 }],
  "world.time-preview": (viewer) => [{ viewer }, { viewer, at: "2026-02-01T00:00Z" }],
  "world.count": () => [{ text: "How long is this?" }],
  "world.preview": "owner",
  "world.pin": "writes",
  "world.unpin": "writes",
  "world.persona": "writes",
  "world.lore": "owner",
  "world.lore-show": "owner",
  "world.lore-set": "writes",
  "world.lore-file": "writes",
  "world.lore-off": "writes",
  "world.notes": "owner",
  "world.note-set": "owner",
  "world.note-remove": "owner",
  "world.verify": "owner",
  "world.calls": "owner",
  "world.call": "owner",
  "world.inspect": "owner",
  // Makes a world of its own somewhere else and shows that.
  "world.demo": "owner",
  // The answer of these two is that of world.invoke, which the story itself drives for the operator.
  "world.say": "writes",
  "world.beat": "writes",
  "world.new": "writes",
  "world.delete": "writes",
  "world.settings-set": "writes",
  "world.writer-set": "writes",
  "world.settings": "owner",
  "world.writer": "owner",
  "world.writer-test": "owner",
  "world.writer-models": "owner",
  "world.people-add": "writes",
  "world.people-name": "writes",
  "world.people-token": "writes",
  "world.presence": "writes",
  "world.turn-set": "writes",
  "world.scene": "writes",
  "world.stop": "writes",
  "world.calendar-add": "writes",
  "world.calendar-close": "writes",
  "world.message-add": "writes",
  "world.time-policy": "writes",
  "world.autonomy": "writes",
  "world.fork": "owner",
  "world.import": "owner",
  "world.import-bytes": "owner",
  "world.import-profile": "owner",
  "world.imports": "owner",
  "world.import-show": "owner",
  "world.import-original": "owner",
  "world.swipes": "owner",
  "world.avatar": () => EVERYBODY.map((person_id) => ({ person_id })),
  "world.avatar-set": "writes",
  "world.avatar-remove": "writes",
};

/** Operations of worlds that the canary does not know. */
export function findUndriven(): string[] {
  return WORLD_OPERATIONS.map(({ name }) => name).filter((name) => !(name in OPERATIONS));
}

/** Operations that show a viewer something and are driven here. */
export function findDriven(): string[] {
  return Object.keys(OPERATIONS).filter((name) => typeof OPERATIONS[name] === "function");
}

const DRIVEN = (WORLD_OPERATIONS as readonly unknown[] as readonly Operation<WorldRoom>[]).filter(
  ({ name }) => typeof OPERATIONS[name] === "function",
);
/** These look whether they could write, or write an answer, so they cannot run inside a reading of others. */
const OWN_SURFACE: ReadonlySet<string> = new Set(["world.health", "world.invoke"]);

/** What the routes of a viewer show. */
const AT_SURFACES: ReadonlySet<string> = new Set([
  "world.projection",
  "world.entry",
  "world.search",
  "world.find",
  "world.capsule",
  "world.pocket",
  "world.pins",
  "world.export",
]);

interface Read {
  readonly story: Story;
  readonly world: string;
  readonly label: string;
}

/** Looks at everything that everybody but one can read of a world; who watches at the surfaces asks there. */
export async function readAsOthers(room: WorldRoom, watcher: string, read: Read, totals: Totals): Promise<void> {
  for (const viewer of EVERYBODY) {
    const operations = viewer === watcher ? DRIVEN.filter(({ name }) => !AT_SURFACES.has(name)) : DRIVEN;
    await readAs(
      room,
      viewer,
      read,
      totals,
      operations.filter(({ name }) => !OWN_SURFACE.has(name)),
    );
  }
}

/** Looks through operations that cannot run inside a reading of others. */
export async function readAlone(room: WorldRoom, read: Read, totals: Totals): Promise<void> {
  const alone = DRIVEN.filter(({ name }) => OWN_SURFACE.has(name));
  for (const viewer of EVERYBODY) await readAs(room, viewer, read, totals, alone);
}

/** Looks at what a viewer can read of a world and at every error on the way. */
export async function readAs(
  room: WorldRoom,
  viewer: string,
  { story, world, label }: Read,
  totals: Totals,
  operations: readonly Operation<WorldRoom>[] = DRIVEN,
): Promise<void> {
  const isFirst = viewer === EVERYBODY[0];
  for (const operation of operations) {
    const drive = OPERATIONS[operation.name];
    if (typeof drive !== "function") continue;
    // What knows no viewer is the same for all of them, so it may hold no secret at all.
    const isForAll = !takes(operation, "viewer") && operation.name !== "world.invoke" && !isOperators(operation);
    if (isForAll && !isFirst) continue;
    const hidden = isForAll ? story.secrets.map(({ word }) => word) : findHidden(story, viewer);
    const nothing = new Map<string, string>();
    for (const input of drive(viewer, story)) {
      const output = await answer(room, operation, takes(operation, "world") ? { ...input, world } : input);
      totals.outputs++;
      const what = `${label}: ${operation.name} as ${viewer}`;
      noteLeaks(totals, what, hidden, output, JSON.stringify(input));
      compareWithNothing(totals, what, hidden, nothing, input as Asked, output, story, viewer);
    }
  }
}

function takes({ input }: Operation<WorldRoom>, field: string): boolean {
  return field in ((input as { readonly shape?: object }).shape ?? {});
}

/** Shows what the operator was answered. */
function isOperators({ name }: Operation<WorldRoom>): boolean {
  return name === "world.invocation" || name === "world.versions" || name === "world.beats";
}

interface Asked {
  readonly query?: string;
  readonly entry_id?: string;
}

/** Asking for something hidden must give, byte for byte, what asking for something that never was gives. */
function compareWithNothing(
  totals: Totals,
  what: string,
  hidden: readonly string[],
  nothing: Map<string, string>,
  { query, entry_id }: Asked,
  output: string,
  story: Story,
  viewer: string,
): void {
  if (query === NO_WORD || entry_id === NO_ENTRY) nothing.set("answer", output);
  const isHiddenWord = query !== undefined && hidden.includes(query);
  const isHiddenEntry = entry_id !== undefined && story.audiences.get(entry_id)?.has(viewer) === false;
  if ((isHiddenWord || isHiddenEntry) && output !== nothing.get("answer")) {
    totals.leaks.push(`${what}: ${query ?? entry_id} is not as if it did not exist`);
  }
}

export function findHidden(story: Story, viewer: string): string[] {
  return story.secrets.filter(({ known_to }) => !known_to.has(viewer)).map(({ word }) => word);
}

/** Notes every hidden word in what a viewer got, unless the viewer said it first. */
export function noteLeaks(totals: Totals, what: string, hidden: readonly string[], output: string, asked = ""): void {
  for (const word of hidden) {
    if (output.includes(word) && !asked.includes(word)) totals.leaks.push(`${what} has ${word}`);
  }
}

/** Runs an operation and gives its answer or its error as text. */
export async function answer(room: WorldRoom, operation: Operation<WorldRoom>, input: object): Promise<string> {
  try {
    const parsed = operation.input.parse(JSON.parse(JSON.stringify(input)));
    if (operation.lines === undefined) return JSON.stringify(await operation.run(room, parsed as never));
    if (operation.name === "world.follow") {
      return await readSome(operation.lines(room, { ...(parsed as object), ticks: true } as never));
    }
    const lines: string[] = [];
    for await (const line of operation.lines(room, parsed as never)) lines.push(line);
    return lines.join("\n");
  } catch (thrown) {
    // A fault of ours would say nothing about any secret, and so hide that nothing was asked.
    if (!isVerbatimError(thrown) || thrown.code === "INTERNAL") throw thrown;
    const { code, message, where, fix, details } = thrown;
    return JSON.stringify({ code, message, where, fix, details: details as JsonValue });
  }
}

/** Events up to the first quiet moment. */
async function readSome(lines: AsyncIterable<string>): Promise<string> {
  const seen: string[] = [];
  for await (const line of lines) {
    seen.push(line);
    if (line.includes('"tick"')) break;
  }
  return seen.join("\n");
}
