import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskFolder } from "../../../test/support/memory-folder.ts";
import type { LaunchRequest } from "../../rooms/catalytic/ports.ts";
import { createGuards } from "./index.ts";

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-guard-")));
  for (const folder of ["work/tmp", "domain"]) mkdirSync(join(base, folder), { recursive: true });
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function toRequest(more: Partial<LaunchRequest>): LaunchRequest {
  return {
    guard: "ns-overlay",
    run_id: "run-1",
    root: base,
    work: join(base, "work"),
    layers: [],
    writable: [],
    holes: [],
    keeps: [],
    command: ["true"],
    cwd: base,
    env: { PATH: "/usr/bin:/bin" },
    network: "inherit",
    timeout_ms: 10_000,
    stdin: "null",
    onOutput: () => undefined,
    ...more,
  };
}

describe.each(["ns-overlay", "ns-bind", "landlock"] as const)("%s", (guard) => {
  it("that cannot start says why and does not hang", async (context) => {
    const guards = createGuards(null, base);
    if ((await guards.probe(true))[guard] !== "ok") context.skip(`${guard} does not work here`);
    const launch = guards.launch(toRequest({ guard, cwd: join(base, "no-such-folder") }));
    await expect(launch).rejects.toMatchObject({ code: "GUARD_START_FAILED", message: expect.stringContaining("cwd") });
  });
});
