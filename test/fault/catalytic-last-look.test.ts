import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { makeCatalyticRepo, openCatalytic, type TestRun, toJobSpec } from "../support/catalytic-repo.ts";

/** The last look at the real tree comes after everything the tool does: what changes until then is in the proof. */
function open(change: (ports: CatalyticPorts, root: string) => CatalyticPorts): { root: string; room: TestRun } {
  const { base, root } = makeCatalyticRepo();
  const room = openCatalytic(base, root, (ports) => change(ports, root));
  onTestFinished(async () => {
    await room.close();
    await runDisk.discard(base);
  });
  return { root, room };
}

describe.each(["ns-overlay", "ns-bind", "landlock", "audit"] as const)("under %s", (guard) => {
  it("a change of the tree while the tool collects what a view left is told", async ({ skip }) => {
    const { root, room } = open((ports, at) => ({
      ...ports,
      // The first thing the tool does with what it found, after the command has ended.
      content: async () => {
        writeFileSync(join(at, "src/app.txt"), "changed late\n");
        return ports.content();
      },
    }));
    if ((await room.ports.guards.probe(false))[guard] !== "ok") skip(`${guard} does not work here`);
    execFileSync("git", ["init", "-q", root]);
    const { run, changes } = await runInView(room.ports, {
      ...room.places,
      command: ["sh", "-c", "echo new > src/new.txt"],
      intent: "Change a view",
      run_id: "view-1",
      guard,
    });
    const listed = JSON.parse(readFileSync(join(root, ".verbatim/runs/view-1/VIEW_CHANGES.json"), "utf8")) as {
      concurrent_changes: string[];
    };
    if (guard.startsWith("ns-")) {
      expect(changes.concurrent).toContain("src/app.txt");
      expect(listed.concurrent_changes).toContain("src/app.txt");
    } else {
      expect(run).toMatchObject({ accepted: false });
      expect(run.violations).toContainEqual(expect.objectContaining({ path: "src/app.txt" }));
    }
  });

  it("a change of the tree while outputs are put in place fails the run and takes them back", async ({ skip }) => {
    const { root, room } = open((ports, at) => ({
      ...ports,
      disk: {
        ...ports.disk,
        rename(from, to) {
          ports.disk.rename(from, to);
          if (to.endsWith(".verbatim/out/new.txt")) writeFileSync(join(at, "src/app.txt"), "changed late\n");
        },
      },
    }));
    if ((await room.ports.guards.probe(false))[guard] !== "ok") skip(`${guard} does not work here`);
    mkdirSync(join(root, ".verbatim/out"), { recursive: true });
    const spec = toJobSpec(["sh", "-c", "echo made > .verbatim/out/new.txt"], {
      guard,
      outputs: { durable_paths: [".verbatim/out/new.txt"] },
    });
    const run = await room.run(spec);
    expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION", outputs: [] });
    expect(run.violations).toContainEqual(expect.objectContaining({ code: "OUTSIDE_CHANGED", path: "src/app.txt" }));
    expect(run.quarantined).toEqual([".verbatim/out/new.txt"]);
    expect(existsSync(join(root, ".verbatim/out/new.txt"))).toBe(false);
    const kept = join(root, ".verbatim/runs/run-1/quarantine/.verbatim/out/new.txt");
    expect(readFileSync(kept, "utf8")).toBe("made\n");
  });
});
