import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { ContextWorkspace } from "../support/context-workspace.ts";

// Who searches in a thread, and when that thread ends.

let workspace: ContextWorkspace;
const running = new Set<Worker>();
let started = 0;

function count(worker: Worker): void {
  started++;
  running.add(worker);
  worker.once("exit", () => running.delete(worker));
}

beforeEach(() => {
  workspace = new ContextWorkspace();
  workspace.write("a.md", "# Lantern\nThe lantern glows.\n");
  started = 0;
  process.on("worker", count);
});
afterEach(async () => {
  process.off("worker", count);
  await workspace.close();
});

it.each(["library", "mcp", "http"] as const)(
  "%s searches in one thread, which ends with its workspace",
  async (surface) => {
    const app = openApp({ surface, start: workspace.root, env: {}, platform: process.platform });
    await app.call("context.index-build", {});
    const searches = Array.from({ length: 5 }, () => app.call("context.search", { query: "lantern" }));
    for (const found of await Promise.all(searches)) expect(found).toMatchObject({ total: 1 });
    expect([started, running.size]).toEqual([1, 1]);
    await app.close();
    expect(running.size).toBe(0);
  },
);

it("a command line starts none: nobody else waits for it", async () => {
  const app = openApp({ surface: "cli", start: workspace.root, env: {}, platform: process.platform });
  await app.call("context.index-build", {});
  expect(await app.call("context.search", { query: "lantern" })).toMatchObject({ total: 1 });
  await app.close();
  expect(started).toBe(0);
});
