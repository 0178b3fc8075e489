import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { findMarked } from "../../src/adapters/process/leftovers.ts";
import { readRecord } from "../../src/rooms/catalytic/record/record-files.ts";
import { recoverRuns } from "../../src/rooms/catalytic/recover/recover.ts";
import { verifyRun } from "../../src/rooms/catalytic/verify/verify.ts";
import { makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "./catalytic-repo.ts";
import { bundleChild } from "./child.ts";

let program: Awaited<ReturnType<typeof bundleChild>>;

beforeAll(async () => {
  program = await bundleChild("test/support/catalytic-child.ts");
});

afterAll(() => program.remove());

/**
 * Kills a run after some milliseconds, lets `recover` or the next run put it back, and checks that everything is as it
 * was or properly finished. A guard may name its launcher: `ns-bind bubblewrap`.
 */
export async function killAndRecover(
  guard: string,
  afterMs: number,
  by: "recover" | "next run",
): Promise<"finished" | "recovered" | "never began"> {
  const { base, root } = makeCatalyticRepo();
  const domain = join(root, ".verbatim/scratch/d");
  const out = join(root, ".verbatim/out");
  const before = { domain: recordTree(domain), out: recordTree(out), src: recordTree(join(root, "src")) };
  try {
    await runAndKill([base, root, ...guard.split(" ")], afterMs);
    const room = openCatalytic(base, root);
    const options = { run_id: null, dry_run: false, force: false };
    const record = join(root, ".verbatim/runs/run-1");
    if (by === "next run") {
      const next = await room.run(toJobSpec(["true"], { run_id: "run-2", catalytic_domains: [".verbatim/scratch/e"] }));
      expect(next).toMatchObject({ accepted: true });
    }
    const runs = by === "recover" ? await recoverRuns(room.ports, room.places.state, options) : [];
    expect(await recoverRuns(room.ports, room.places.state, options)).toEqual([]);
    expect(findMarked({ run_id: "run-1", work: join(root, ".verbatim/state/catalytic/run-1") })).toEqual([]);
    expect(recordTree(domain)).toEqual(before.domain);
    expect(recordTree(join(root, "src"))).toEqual(before.src);
    expect(existsSync(join(root, ".verbatim/state/catalytic/run-1"))).toBe(false);
    const status = existsSync(join(record, "STATUS.json"))
      ? (JSON.parse(readFileSync(join(record, "STATUS.json"), "utf8")) as { status: string }).status
      : null;
    if (status === "succeeded") {
      const verdict = await verifyRun(
        room.ports.crypto,
        { name: "run-1", files: readRecord(runDisk, record) },
        { pins: [], policy_sha256: null, tree: "skip", strict_tree: false },
      );
      expect(verdict.accepted).toBe(true);
      expect(readFileSync(join(out, "old.txt"), "utf8")).toBe("two\n");
    } else {
      expect(recordTree(out)).toEqual(before.out);
      if (status !== null) expect(status).toBe("failed");
      for (const run of runs) expect(run.final_status).toBe("failed");
    }
    await room.close();
    return status === "succeeded" ? "finished" : status === null ? "never began" : "recovered";
  } finally {
    await runDisk.discard(base);
  }
}

function runAndKill(args: readonly string[], afterMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [program.file, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    running.stdout.on("data", (bytes: Buffer) => {
      if (bytes.toString().includes("GO")) setTimeout(() => running.kill("SIGKILL"), afterMs);
    });
    running.once("error", reject);
    running.once("close", () => resolve());
  });
}
