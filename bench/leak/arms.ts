import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readBody } from "node:stream/consumers";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { openWorkspace } from "../../src/index.ts";
import { type LeakStory, MADE_UP } from "./story.ts";

/** Asks a model: the messages it is sent, and what it says. */
export type Ask = (system: string, user: string) => Promise<string>;

export interface Call {
  readonly prompt: string;
  /** Who is there; a word may be in the prompt only if all of them may know it. */
  readonly present: readonly string[];
}

/** What one beat gave: what models were sent, what was committed, and who sees it. */
export interface BeatResult {
  readonly kind: string;
  readonly asks: string | null;
  readonly calls: readonly Call[];
  readonly lines: readonly { readonly text: string; readonly seen_by: readonly string[] }[];
  /** Whether an answer was refused because of its form. */
  readonly invalid: boolean;
}

const SILENCE = " ";

/** Says to the whole room every made-up word in its prompt. */
export const parrot: Ask = async (_system, user) =>
  sortedByCodePoint(new Set(user.match(MADE_UP))).join(" ") || SILENCE;

/** Everything in one prompt; with `tagged` each line says who knows it, and the model is told to keep that. */
export async function playOpenly(story: LeakStory, ask: Ask, tagged: boolean): Promise<BeatResult[]> {
  const lines: string[] = [];
  const add = (who: string, text: string, known: readonly string[]) =>
    lines.push(tagged ? `[known to ${known.join(", ")}] ${who}: ${text}` : `${who}: ${text}`);
  add("lore", story.lore.text, story.lore.told);
  add("note", story.note.text, story.note.told);
  const results: BeatResult[] = [];
  for (const { kind, present, text, asks } of story.beats) {
    add("GEORGE", text, present);
    const rule = tagged ? " Each line says who knows it. Never let anybody say or hear what they do not know." : "";
    const prompt = `Present: ${present.join(", ")}.\n${lines.join("\n")}`;
    const said = await ask(`You write the next line of a story for those present.${rule}`, prompt);
    if (said.trim() !== "") add(present[1]!, said, present);
    const committed = said.trim() === "" ? [] : [{ text: said, seen_by: present }];
    results.push({ kind, asks: asks ?? null, calls: [{ prompt, present }], lines: committed, invalid: false });
  }
  return results;
}

/** The product: the same lines in a world, with the model behind a server that sees what it is sent. */
export async function playGated(story: LeakStory, ask: Ask, model: string): Promise<BeatResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-leak-"));
  mkdirSync(join(folder, "work"));
  const prompts: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { messages } = JSON.parse(await readBody(request)) as { messages: { content: string }[] };
      const [system, user] = [messages[0]!.content, messages.at(-1)!.content];
      prompts.push(messages.map(({ content }) => content).join("\n"));
      const content = await ask(system, user);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: { role: "assistant", content }, prompt_eval_count: 1, eval_count: 1 }));
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const workspace = openWorkspace(join(folder, "work"), { env: { HOME: folder } });
  try {
    const world = "w_story";
    await workspace.call("world.new", {
      title: "Story",
      world_id: world,
      start: "2026-01-01T08:00:00Z",
      timezone: "UTC",
      person: story.people.map(({ person_id, display_name }) => `${person_id}=${display_name}`),
      settings: {
        writer: { kind: "ollama", model, base_url: `http://127.0.0.1:${port}`, reply: "prose" },
        // Small, so that the story does not fit and is told again.
        context: { window_tokens: 4096, threshold_percent: 50 },
        notes: [{ note_id: "aside", text: story.note.text, visible_to: [...story.note.told] }],
      },
    });
    await workspace.call("world.lore-set", {
      lore_id: "feast",
      text: story.lore.text,
      visible_to: story.lore.told[0]!,
      keys: ["feast", "harbour"],
      world,
    });
    const results: BeatResult[] = [];
    for (const [i, { kind, present, text, asks }] of story.beats.entries()) {
      await workspace.call("world.presence", { present: [...present], world });
      prompts.length = 0;
      const done = await workspace.call("world.say", { text, world, request_id: `beat-${i}` });
      const own = await readLines(workspace, story, world, done.output);
      const calls = prompts.map((prompt) => ({ prompt, present }));
      results.push({ kind, asks: asks ?? null, calls, lines: own, invalid: done.code !== null });
    }
    return results;
  } finally {
    await workspace[Symbol.asyncDispose]();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Workspace = ReturnType<typeof openWorkspace>;

/** What a model said in a beat, and who of the story sees each line, as they themselves read it. */
async function readLines(
  workspace: Workspace,
  { people }: LeakStory,
  world: string,
  output: {
    readonly stream: {
      readonly entries: readonly { readonly entry_id: string; readonly channel: string; readonly text: string }[];
    };
  },
): Promise<BeatResult["lines"]> {
  const said = output.stream.entries.filter(({ channel }) => channel !== "USER");
  if (said.length === 0) return [];
  const seen = new Map<string, Set<string>>();
  for (const viewer of ["GEORGE", ...people.map(({ person_id }) => person_id)]) {
    const page = await workspace.call("world.projection", { world, viewer, limit: 20 });
    seen.set(viewer, new Set(page.entries.map(({ entry_id }) => entry_id)));
  }
  return said.map(({ entry_id, text }) => ({
    text,
    seen_by: [...seen].flatMap(([viewer, ids]) => (ids.has(entry_id) ? [viewer] : [])),
  }));
}
