import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { createLocalFiles } from "../../src/adapters/disk/guarded/local-files.ts";
import { createLocalFolders } from "../../src/adapters/disk/guarded/local-folders.ts";
import { intlGraphemes } from "../../src/adapters/intl/graphemes.ts";
import { makeZones } from "../../src/adapters/intl/zones.ts";
import { processPace } from "../../src/adapters/process/timer.ts";
import { readWorker } from "../../src/adapters/process/worker.ts";
import { zlibInflater } from "../../src/adapters/zlib/inflater.ts";
import { openStore } from "../../src/app/compose/store/store.ts";
import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { createWorld } from "../../src/rooms/world/history/worlds.ts";
import { DEFAULT_TIMES, type WorldPorts, type WorldTimes } from "../../src/rooms/world/operations/ports.ts";
import type { NewPerson } from "../../src/rooms/world/people/people.ts";
import { BYTES_BY_THREE } from "../../src/rooms/world/people/tokens.ts";
import type { Models, Worker } from "../../src/rooms/world/ports.ts";

type Reply = string | { readonly down: string };

/** A model that answers from a list and remembers what it was sent. */
export class ListedModel implements Models {
  readonly prompts: { readonly system: string; readonly user: string }[] = [];
  readonly answers: Reply[];
  /** Called before each answer, for tests that do something in the middle of a beat. */
  before: (() => Promise<void>) | null = null;

  constructor(...answers: Reply[]) {
    this.answers = answers;
  }

  async isReachable(): Promise<boolean> {
    return true;
  }

  async chat(request: Parameters<Models["chat"]>[0]): ReturnType<Models["chat"]> {
    this.prompts.push({ system: request.messages[0]!.content, user: request.messages[1]!.content });
    await this.before?.();
    const answer = this.answers.shift() ?? '{"no_write":{}}';
    if (typeof answer === "string") return { text: answer, input_tokens: null, output_tokens: null };
    return { down: { code: "WRITER_UNREACHABLE", message: answer.down } };
  }

  async list(): ReturnType<Models["list"]> {
    return [];
  }
}

export interface TestWorlds extends AsyncDisposable {
  readonly ports: WorldPorts;
  readonly beats: Beats;
  /** The database file, with SQLite. */
  readonly path: string;
  /** Another service on the same store, as another process would have it. */
  another(): Beats;
}

let seed = 0;

/** The world room on a real store: SQLite in a temporary folder, or the PostgreSQL database of the address. */
export async function openWorlds(
  options: {
    readonly url?: string;
    readonly models?: Models;
    readonly worker?: Worker;
    readonly times?: Partial<WorldTimes>;
    /** An existing folder, which is kept. */
    readonly folder?: string;
  } = {},
): Promise<TestWorlds> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "verbatim-world-"));
  const path = join(folder, "store.db");
  let uuid = 0;
  let drawn = 0;
  const mine = ++seed + process.pid * 1000;
  const base = {
    crypto: nodeCrypto,
    clock: { now: () => Date.now() },
    ids: { uuid: () => `00000000-0000-4000-8000-${String((mine * 10_000 + ++uuid) % 1e12).padStart(12, "0")}` },
  };
  const store = await openStore({ path, url: options.url, ...base });
  const content = store.content ?? createContentStore({ folder: join(folder, "blobs"), ...base });
  const ports: WorldPorts = {
    ...base,
    store,
    content,
    random: {
      bytes(count) {
        const draw = ++drawn;
        return Uint8Array.from({ length: count }, (_, i) => (i < 4 ? draw >> (8 * i) : i * 7 + mine) % 256);
      },
    },
    pace: processPace,
    worker: options.worker ?? readWorker(),
    zones: makeZones(),
    graphemes: intlGraphemes,
    inflater: zlibInflater,
    tokenizer: BYTES_BY_THREE,
    models: options.models ?? new ListedModel(),
    files: createLocalFiles(folder, nothing()),
    folders: createLocalFolders(folder),
    actor: "library",
    system_zone: "UTC",
    times: { ...DEFAULT_TIMES, ...options.times },
  };
  return {
    ports,
    beats: new Beats(ports),
    path,
    another: () => new Beats(ports),
    async [Symbol.asyncDispose]() {
      await store.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function* nothing(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}

export const HARBOUR: readonly NewPerson[] = [
  { person_id: "ANA", display_name: "Ana" },
  { person_id: "BEN", display_name: "Ben" },
];

/** A small world by the sea. */
export async function makeHarbour(
  worlds: Pick<TestWorlds, "ports">,
  settings: Readonly<Record<string, unknown>> = {},
  worldId = "w_harbour",
): Promise<string> {
  const { world_id } = await createWorld(worlds.ports, {
    world_id: worldId,
    start: "2026-01-01T07:30:00+00:00",
    people: HARBOUR,
    settings: { title: "Harbour", timezone: "UTC", ...settings },
  });
  return world_id;
}

/** An envelope of the operator. */
export function envelope(requestId: string, text: string, more: Readonly<Record<string, unknown>> = {}): never {
  return {
    request_id: requestId,
    invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
    operator: { operator_id: "GEORGE", input_text: text },
    mode: { kind: "BEAT" },
    ...more,
  } as never;
}

/** A writer's answer with PEOPLE lines. */
export function says(person: string, text: string, visibleTo?: readonly string[]): string {
  const visibility = visibleTo === undefined ? {} : { visibility: { scope: "PRIVATE", visible_to: visibleTo } };
  const entry = { author: { author_id: person, author_class: "PERSON" }, channel: "PEOPLE", text, ...visibility };
  return JSON.stringify({ proposed_write_bundle: { entries: [entry] } });
}

export const OLLAMA = { writer: { kind: "ollama", model: "test" } } as const;
