import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "../call.ts";
import type { Composition } from "../compose/compose.ts";
import type { Output } from "../operations.ts";

export interface WorldStory {
  readonly ok: boolean;
  readonly steps: { readonly title: string; readonly lines: string[]; readonly ok: boolean }[];
}

const SECRET = "The spare key is under the blue boat.";
const QUESTION = "Where is the spare key?";

/** Tells a short story with the scripted writer in a temporary store: who was not told does not know. */
export async function tellWorldStory(composition: Composition): Promise<WorldStory> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-world-demo-"));
  try {
    await using app = composition.open(folder, {});
    const steps = await tell(app);
    return { ok: steps.every(({ ok }) => ok), steps };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function tell(app: App): Promise<WorldStory["steps"]> {
  const { world_id: world } = await app.call("world.new", {
    title: "Gull Rock",
    timezone: "Europe/London",
    start: "2026-05-01T08:00",
    person: ["ANA=Ana", "BEN=Ben"],
  });
  const gather = (present: string[]) => app.call("world.presence", { world, present });
  const say = (text: string) => app.call("world.say", { world, text });
  await gather(["GEORGE", "ANA"]);
  const told = await say(SECRET);
  await gather(["GEORGE", "BEN"]);
  const asked = await say(QUESTION);
  await gather(["GEORGE", "ANA"]);
  const knows = await say(QUESTION);
  const prompts = await readPrompts(app, world, asked.request_id);
  const found = await Promise.all(["ANA", "BEN"].map((viewer) => countFound(app, world, viewer)));
  const again = await app.call("world.say", { world, text: QUESTION, request_id: knows.request_id });
  const report = await app.call("world.verify", { world });
  return [
    { title: "George and Ana at the pier", lines: show(told), ok: told.result === "WROTE" },
    {
      title: "George and Ben: Ben was not told",
      lines: [...show(asked), `the writer was sent the secret: ${prompts.includes("blue boat") ? "yes" : "no"}`],
      ok: !prompts.includes("blue boat") && !show(asked).join("\n").includes("blue boat"),
    },
    {
      title: "George and Ana again: she quotes what was written",
      lines: show(knows),
      ok: show(knows).some((line) => line.includes(SECRET) && line.startsWith("Ana:")),
    },
    {
      title: "Searching for the blue boat",
      lines: [`as Ana: ${found[0]} line found`, `as Ben: ${found[1]} lines found`],
      ok: found[0]! > 0 && found[1] === 0,
    },
    {
      title: "Sending the same request again gives the same beat",
      lines: [`identical answer: ${JSON.stringify(again.output) === JSON.stringify(knows.output) ? "yes" : "no"}`],
      ok: JSON.stringify(again.output) === JSON.stringify(knows.output),
    },
    {
      title: "Every line matches its record",
      lines: [`${report.checked.entries} entries verified: ${report.ok ? "ok" : "not ok"}`],
      ok: report.ok,
    },
  ];
}

function show({ output }: Output<"world.say">): string[] {
  return output.stream.entries.map(({ author_label, text }) => `${author_label ?? "George"}: ${text}`);
}

async function countFound(app: App, world: string, viewer: string): Promise<number> {
  const pack = await app.call("world.search", { world, viewer, query: "blue boat", person: "GEORGE" });
  return pack.results.length;
}

async function readPrompts(app: App, world: string, request_id: string): Promise<string> {
  const { calls } = await app.call("world.calls", { world, request_id });
  const texts = await Promise.all(calls.map(({ call_id }) => app.call("world.call", { world, call_id })));
  return JSON.stringify(texts.map(({ messages }) => messages));
}
