import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import { VerbatimError } from "../../src/core/errors/index.ts";
import type { WorldRoom } from "../../src/rooms/world/operations/index.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { makeToken } from "../../src/rooms/world/people/world-tokens.ts";
import { ListedModel, openWorlds, type TestWorlds } from "./world.ts";
import { callTools, listResources } from "./world-canary-mcp.ts";
import { findHidden, noteLeaks, readAlone, readAs, readAsOthers, type Totals } from "./world-canary-reads.ts";
import { type Answers, type Asker, askAsOwner, askAsStranger, askEverywhere } from "./world-canary-routes.ts";
import { StillStore } from "./world-canary-still.ts";
import { EVERYBODY, type Story, tellStory, tellUnseen } from "./world-canary-story.ts";
import { type CanarySurface, openSurface, toApp } from "./world-canary-surface.ts";

export interface CanaryResult {
  readonly sequences: number;
  readonly outputs: number;
  readonly prompts: number;
  readonly secrets: number;
  readonly leaks: readonly string[];
}

/** Of so many stories one is looked at through a socket, the composed app and transactions of each operation. */
const WHOLE_SURFACE = 20;
/** Of so many stories one goes on with what its watcher cannot see. */
const UNSEEN = 4;
const REQUESTS_A_TOKEN = 100;
const TOKENS = 3;

/** Runs random stories full of secrets and looks for each secret in everything made for whoever may not know it. */
export async function runCanary(options: {
  readonly url?: string;
  readonly from: number;
  readonly count: number;
}): Promise<CanaryResult> {
  const model = new ListedModel();
  const root = mkdtempSync(join(tmpdir(), "verbatim-canary-"));
  const folder = join(root, ".verbatim", "state");
  mkdirSync(folder, { recursive: true });
  const totals: Totals = { outputs: 0, prompts: 0, secrets: 0, leaks: [] };
  try {
    const url = options.url === undefined ? {} : { url: options.url };
    await using worlds = await openWorlds({ models: model, folder, ...url });
    const env = options.url === undefined ? {} : { VERBATIM_DATABASE_URL: options.url };
    await using app = openApp({ surface: "http", start: root, env, platform: process.platform });
    const still = new StillStore(worlds.ports.store);
    const room: WorldRoom = {
      ...worlds.ports,
      store: still.store,
      beats: worlds.beats,
      default_world: null,
      writable: async () => worlds.ports.store,
      loadKey: async () => {
        throw new VerbatimError("KEY_UNKNOWN");
      },
    };
    await using near = await openSurface(toApp(room), "call");
    await using far = await openSurface(app, "socket");
    const run = { worlds, model, room, still, near, far, totals };
    const words: string[] = [];
    let stranger: string | null = null;
    for (let seed = options.from; seed < options.from + options.count; seed++) {
      const { story, token } = await runStory(run, seed, stranger);
      stranger = token;
      words.push(...story.secrets.map(({ word }) => word));
    }
    totals.secrets = words.length;
    for (const surface of [near, far]) {
      await askAsOwner(surface, words, ["Canary"], totals);
      noteLeaks(totals, "the log", words, surface.takeLog());
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return { sequences: options.count, ...totals };
}

interface Run {
  readonly worlds: TestWorlds;
  readonly model: ListedModel;
  readonly room: WorldRoom;
  readonly still: StillStore;
  readonly near: CanarySurface;
  readonly far: CanarySurface;
  readonly totals: Totals;
}

/** One story: everybody reads it by operations, and one of them watches it at the surfaces. */
async function runStory(
  run: Run,
  seed: number,
  stranger: string | null,
): Promise<{ readonly story: Story; readonly token: string }> {
  const { worlds, model, room, totals } = run;
  const isWhole = seed % WHOLE_SURFACE === 0;
  const surface = isWhole ? run.far : run.near;
  const viewer = EVERYBODY[seed % EVERYBODY.length]!;
  const label = `seed ${seed}`;
  const world = `w_canary-${seed}`;
  const asker = makeAsker(run, world, viewer);
  let events: Awaited<ReturnType<CanarySurface["listen"]>> | undefined;
  const story = await tellStory(worlds, model, seed, totals, async () => {
    events = await surface.listen(`/api/worlds/${world}/stream`, await asker.token());
  });
  // Who follows is told at once of what another process would look for after a while.
  worlds.beats.hub.committed(world);
  await events!.until(story.last_line);
  await setPresence(
    worlds.ports,
    world,
    EVERYBODY.filter((id) => id !== viewer),
  );
  const read = { story, world, label };
  await readAlone(room, read, totals);
  await asker.prepare();
  // The operator's looks are written down, and what stands still cannot be written.
  const stand = <T>(look: () => Promise<T>): Promise<T> =>
    isWhole || viewer === "GEORGE" ? look() : run.still.during(look);
  const before = await stand(async () => {
    await readAsOthers(room, viewer, read, totals);
    if (story.fork !== null)
      await readAs(room, viewer, { story, world: story.fork, label: `fork of ${label}` }, totals);
    await callTools(surface, viewer, story, label, totals);
    return askEverywhere(surface, asker, story, label, totals);
  });
  if (isWhole) await listResources(surface, story, label, totals);
  if (stranger !== null && seed % WHOLE_SURFACE === 1) await askAsStranger(surface, stranger, world, label, totals);
  if (seed % UNSEEN === 0) {
    const told = { ...story, secrets: [...story.secrets] };
    await tellUnseen(worlds, model, story, viewer, seed);
    await asker.prepare();
    const after = await stand(async () => {
      await callTools(surface, viewer, story, label, totals);
      return askEverywhere(surface, asker, told, label, totals, findHidden(story, viewer));
    });
    noteChanges(totals, `${label}: for ${viewer}`, before, after);
  }
  await events!.cancel();
  worlds.beats.hub.committed(world);
  noteLeaks(totals, `${label}: server-sent events of ${viewer}`, findHidden(story, viewer), events!.text());
  return { story, token: await asker.token() };
}

/** What somebody cannot see must not change a byte of what they are answered. */
function noteChanges(totals: Totals, what: string, before: Answers, after: Answers): void {
  for (const [asked, answer] of before) {
    if (after.get(asked) !== answer) totals.leaks.push(`${what}: ${asked} changed by what is hidden`);
  }
}

/** Tokens of one viewer, made ahead of what needs them. */
function makeAsker(
  { worlds }: Pick<Run, "worlds">,
  world: string,
  viewer: string,
): Asker & { prepare(): Promise<void> } {
  const tokens: string[] = [];
  let left = 0;
  const prepare = async (): Promise<void> => {
    while (tokens.length < TOKENS) tokens.push((await makeToken(worlds.ports, world, { person_id: viewer })).token);
  };
  return {
    viewer,
    world,
    prepare,
    async token() {
      if (left-- <= 0) {
        tokens.shift();
        left = REQUESTS_A_TOKEN - 1;
        if (tokens.length === 0) await prepare();
      }
      return tokens[0]!;
    },
  };
}
