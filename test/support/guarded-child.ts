import { createGuards } from "../../src/adapters/guards/index.ts";
import { openCatalytic, toJobSpec } from "./catalytic-repo.ts";

/** Runs under one guard in a process of another user: BIND RUNS. Says how each ended, or why the guard does not work. */
const [bind, text] = process.argv.slice(2) as ["perl" | "bubblewrap", string];
const runs = JSON.parse(text) as { base: string; root: string; command: string[]; more: { guard: never } }[];
const guards = createGuards(null, runs[0]!.base, bind);
const probes = await guards.probe(true);
const answer = probes[runs[0]!.more.guard];
const ended = await Promise.all(
  runs.map(async ({ base, root, command, more }) => {
    if (answer !== "ok") return null;
    const room = openCatalytic(base, root, (ports) => ({ ...ports, guards: { ...guards, probe: async () => probes } }));
    const run = await room.run(toJobSpec(command, more));
    await room.close();
    return run;
  }),
);
process.stdout.write(`${JSON.stringify({ answer, runs: ended })}\n`);
