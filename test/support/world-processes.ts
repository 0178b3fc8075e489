import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { setPresence } from "../../src/rooms/world/people/people.ts";
import { readPage } from "../../src/rooms/world/projection/views.ts";
import { bundleChild } from "./child.ts";
import { envelope, makeHarbour, openWorlds } from "./world.ts";

let program: Awaited<ReturnType<typeof bundleChild>>;

beforeAll(async () => {
  program = await bundleChild("test/support/world-child.ts");
});

afterAll(() => program.remove());

interface Child {
  readonly process: ChildProcess;
  /** Lines of output so far. */
  readonly lines: string[];
  until(test: (lines: readonly string[]) => boolean): Promise<void>;
  readonly ended: Promise<number | null>;
}

function start(mode: string, folder: string, url: string, world: string, from = 0): Child {
  const child = spawn(process.execPath, [program.file, mode, folder, url, world, String(from)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines: string[] = [];
  let rest = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const wake of waiting) wake();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    process: child,
    lines,
    ended,
    async until(test) {
      while (!test(lines)) {
        const line = new Promise<void>((resolve) => waiting.add(resolve));
        await Promise.race([line, ended.then(() => Promise.reject(new Error("the child ended early")))]);
        waiting.clear();
      }
    },
  };
}

/** Several processes send the same request at once; gives the distinct answers and the lines that were written. */
export async function sendFromProcesses(count: number, url = ""): Promise<{ answers: string[]; texts: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-same-"));
  try {
    await using worlds = await openWorlds({ folder, ...(url === "" ? {} : { url }) });
    const world = await makeHarbour(worlds);
    await setPresence(worlds.ports, world, ["GEORGE", "ANA"]);
    const children = Array.from({ length: count }, () => start("say", folder, url, world));
    await Promise.all(children.map((child) => child.until((lines) => lines.includes("ready"))));
    for (const child of children) child.process.stdin!.end("go\n");
    await Promise.all(children.map(({ ended }) => ended));
    const page = await readPage(worlds.ports, world, { viewer: null, after: null, before: null, limit: 50 });
    return { answers: children.map(({ lines }) => lines.at(-1) ?? ""), texts: page.entries.map(({ text }) => text) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface KillReport {
  readonly kills: number;
  readonly acknowledged: number;
  /** Acknowledged answers that came back with other bytes, or were run again. */
  readonly lost: string[];
  /** Write bundles that are not whole, and everything verification found. */
  readonly broken: string[];
}

/** Kills a talking process again and again and looks at what it leaves behind. */
export async function killTalkers(
  kills: number,
  url = "",
  signals: readonly NodeJS.Signals[] = ["SIGKILL"],
): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-kill-"));
  try {
    const world = await prepare(folder, url);
    const acknowledged = new Map<number, string>();
    let from = 1;
    for (let i = 0; i < kills; i++) {
      const child = start("talk", folder, url, world, from);
      const wanted = 1 + (i % 4);
      await child.until((lines) => lines.filter((line) => line.startsWith("done")).length >= wanted);
      // A different moment each time: between acknowledgements the child is somewhere inside a beat.
      await new Promise((resolve) => setTimeout(resolve, (i * 7) % 23));
      child.process.kill(signals[i % signals.length]);
      await child.ended;
      for (const line of child.lines) {
        const [, n, sha256] = /^done (\d+) ([0-9a-f]{64})$/.exec(line) ?? [];
        if (n !== undefined) acknowledged.set(Number(n), sha256!);
      }
      from = Math.max(...acknowledged.keys()) + 1;
    }
    return { kills, acknowledged: acknowledged.size, ...(await inspect(folder, url, world, acknowledged)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function prepare(folder: string, url: string): Promise<string> {
  await using worlds = await openWorlds({ folder, ...(url === "" ? {} : { url }) });
  const world = await makeHarbour(worlds);
  await setPresence(worlds.ports, world, ["GEORGE", "ANA"]);
  return world;
}

async function inspect(
  folder: string,
  url: string,
  world: string,
  acknowledged: ReadonlyMap<number, string>,
): Promise<{ lost: string[]; broken: string[] }> {
  await using worlds = await openWorlds({ folder, ...(url === "" ? {} : { url }) });
  const lost: string[] = [];
  for (const [n, sha256] of acknowledged) {
    const asked = envelope(`r${n}`, `Line ${n} of the boat and the harbour.`);
    const { body, replayed } = await worlds.beats.invoke(world, asked);
    if (!replayed || worlds.ports.crypto.sha256(body) !== sha256) lost.push(`r${n}`);
  }
  const rows = await worlds.ports.store.read((tx) => tx.world.scan(1, 0, 100_000));
  const sizes = new Map<string, number>();
  for (const { bundle_id } of rows) sizes.set(bundle_id, (sizes.get(bundle_id) ?? 0) + 1);
  // Every beat of this story writes the operator's line and one answer.
  const partial = [...sizes].filter(([, size]) => size !== 2).map(([id]) => `partial ${id}`);
  const { findings } = await verifyWorld(worlds.ports, world);
  return { lost, broken: [...partial, ...findings.map(({ code, where }) => `${code} ${where}`)] };
}
