// Guards: what bubblewrap cannot keep from a command without perl is refused before anything is started.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LaunchRequest } from "../../rooms/catalytic/ports.ts";
import { launchInBubblewrap } from "./bubblewrap.ts";
import { findTool } from "./tools.ts";

function makeRequest(more: Partial<LaunchRequest>): LaunchRequest {
  const work = join(mkdtempSync(join(tmpdir(), "verbatim-bubblewrap-")), "work");
  onTestFinished(() => rmSync(join(work, ".."), { recursive: true, force: true }));
  return {
    guard: "ns-bind",
    run_id: "without-perl",
    root: work,
    work,
    layers: [],
    writable: [],
    holes: [],
    keeps: [],
    command: ["true"],
    cwd: "/",
    env: {},
    network: "inherit",
    timeout_ms: 60_000,
    stdin: "null",
    onOutput: () => undefined,
    ...more,
  };
}

it("without perl no command from which something is hidden is started with the network of the machine", async ({
  skip,
}) => {
  skip(findTool("bwrap") === null, "needs bubblewrap");
  const asked = makeRequest({ hidden: ["/etc/ssh"] });
  await expect(launchInBubblewrap(asked, null)).rejects.toMatchObject({
    code: "GUARD_START_FAILED",
    message: expect.stringContaining("perl is missing, which keeps it from sockets without a path") as string,
  });
  // Nothing was begun: not even the folder of the work is there.
  expect(existsSync(asked.work)).toBe(false);
  // Where there is a network of its own, or nothing is hidden, it goes on to what it needs next.
  for (const other of [makeRequest({ hidden: ["/etc/ssh"], network: "none" }), makeRequest({})]) {
    const begun = await launchInBubblewrap(other, null).then(
      async (running) => (await running.ended).exit_code,
      (thrown: Error) => thrown.message,
    );
    expect(String(begun)).not.toContain("perl");
    expect(existsSync(other.work)).toBe(true);
  }
});
