import { existsSync, linkSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/run-disk.ts";
import { findMarked } from "../../src/adapters/process/leftovers.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import type { GuardName } from "../../src/rooms/catalytic/words.ts";
import { isToolState, makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";

/**
 * Commands that try to reach out of their domain. Under the namespace guards nothing outside changes, whatever the
 * command does; under weaker guards every change that gets through fails the run. In every case the domain is restored.
 */
interface Attack {
  readonly name: string;
  readonly script: string;
  readonly setup?: (root: string) => void;
  /** False: not to be tried where nothing blocks it. */
  readonly unguarded?: boolean;
}

const D = ".verbatim/scratch/d";

const ATTACKS: readonly Attack[] = [
  {
    name: "writes through a symlink it makes in the domain",
    script: `ln -s ../../../AGENTS.md ${D}/l; echo x > ${D}/l`,
  },
  {
    name: "writes through a symlink that was there",
    script: `echo x > ${D}/out`,
    setup: (root) => symlinkSync("../../../src/app.txt", join(root, D, "out")),
  },
  {
    name: "links a file of the repository into the domain and writes it",
    script: `ln AGENTS.md ${D}/h && echo x >> ${D}/h`,
  },
  {
    name: "writes a domain file that was hard-linked to a file outside",
    script: `echo x >> ${D}/h`,
    setup: (root) => linkSync(join(root, "src/app.txt"), join(root, D, "h")),
  },
  { name: "renames a file out of the domain", script: `mv ${D}/a.txt src/a.txt` },
  { name: "renames a file into the domain", script: `mv src/app.txt ${D}/app.txt` },
  {
    name: "replaces the domain by a link to another folder",
    script: `rm -rf ${D}; ln -s ../../src ${D}; echo x > ${D}/app.txt`,
  },
  { name: "changes a mode outside", script: "chmod 777 src/app.txt" },
  { name: "changes times outside", script: "touch -d 2001-01-01T00:00:00Z src/app.txt" },
  {
    name: "writes the same bytes outside and sets the time back",
    script: 't=$(stat -c %y src/app.txt); echo app > src/app.txt; touch -d "$t" src/app.txt',
  },
  { name: "makes a file outside and removes it again", script: "echo x > src/tmp; rm -f src/tmp" },
  { name: "makes a FIFO in the domain", script: `mkfifo ${D}/p; mkfifo src/p` },
  {
    name: "leaves a daemon that writes later",
    script: `(setsid sh -c 'sleep 0.4; echo late > src/late; echo late > ${D}/late' >/dev/null 2>&1 &) ; exit 0`,
  },
  { name: "leaves a child that holds its output open", script: "(sleep 30 &) ; echo done" },
  {
    name: "writes to the system's temporary folder",
    unguarded: false,
    script: `echo x > ${tmpdir()}/verbatim-escape-$$ ; echo x > /var/tmp/verbatim-escape-$$`,
  },
  { name: "writes beside the repository", script: "echo x > ../victim; echo x > ../planted" },
  {
    name: "writes into its own run directory",
    script: "echo '{}' > .verbatim/runs/run-1/PROOF.json; echo x >> .verbatim/runs/run-1/LEDGER.jsonl",
  },
  { name: "plants a run directory", script: "mkdir .verbatim/runs/fake; echo '{}' > .verbatim/runs/fake/PROOF.json" },
  {
    name: "writes into the state of the tool",
    script:
      "mkdir -p .verbatim/state/memo/aa; echo x > .verbatim/state/memo/aa/x; echo x > .verbatim/state/guards.json",
  },
  {
    name: "makes names that are not UTF-8",
    script: `printf x > "${D}/$(printf 'bad\\377name')"; printf x > "src/$(printf 'bad\\377name')"`,
  },
  {
    name: "makes a very deep tree",
    script: `cd ${D}; for i in $(seq 1 400); do mkdir dddddddddddd; cd dddddddddddd; done; echo x > f`,
  },
  { name: "makes a huge sparse file", script: `truncate -s 3G ${D}/huge; echo x >> ${D}/huge` },
  {
    name: "closes folders and files it makes",
    script: `mkdir ${D}/ro; echo x > ${D}/ro/f; chmod 000 ${D}/ro/f; chmod 555 ${D}/ro; chmod 000 ${D}/empty`,
  },
  { name: "deletes the whole domain", script: `rm -rf ${D}` },
  { name: "makes the domain read-only", script: `chmod -R a-w ${D}; chmod 000 ${D}` },
  {
    name: "plants a git hook and edits the git configuration",
    script: "echo x > .git/hooks/pre-commit; echo x >> .git/config",
  },
  { name: "rewrites the configuration", script: "echo '{}' > verbatim.config.json" },
  { name: "is killed by its own child", script: "(sleep 0.05; kill -9 $PPID) & kill -9 $$" },
  {
    name: "tries to mount and to remount",
    unguarded: false,
    script:
      "mount -o remount,rw / 2>/dev/null; mount -t tmpfs x src 2>/dev/null; umount -l .verbatim/scratch/d 2>/dev/null; echo x > src/app.txt",
  },
  {
    name: "tries to reach the host through proc",
    script: "echo x > /proc/1/root/$PWD/src/app.txt; echo x > /proc/self/root/$PWD/src/app.txt",
  },
];

const GUARDS: readonly GuardName[] = ["ns-overlay", "ns-bind", "landlock", "audit"];
let probes: Readonly<Partial<Record<GuardName, string>>>;
let home: { readonly base: string; readonly root: string };

beforeAll(async () => {
  home = makeCatalyticRepo();
  const room = openCatalytic(home.base, home.root);
  probes = await room.ports.guards.probe(true);
  await room.close();
  console.log(`guards: ${GUARDS.map((guard) => `${guard} ${probes[guard]}`).join(", ")}`);
});

afterAll(() => runDisk.discard(home.base));

/** Guards were tried once for all, and the product's ledger has tests of its own. */
function withProbes(ports: CatalyticPorts): CatalyticPorts {
  const records = { appendRun: async () => undefined, append: async () => undefined };
  return { ...ports, records, guards: { ...ports.guards, probe: async () => probes as never } };
}

describe.each(GUARDS)("under %s a command that", (guard) => {
  it.for(ATTACKS)("$name", async ({ script, setup, unguarded }, context) => {
    if (probes[guard] !== "ok") context.skip(`${guard}: ${probes[guard]}`);
    if (guard === "audit" && unguarded === false) context.skip("without a guard it would really change this machine");
    const { base, root } = makeCatalyticRepo();
    try {
      setup?.(root);
      const room = openCatalytic(base, root, withProbes);
      const isOutside = (path: string) => !isToolState(path) && !path.startsWith(`repo/${D}`);
      const skip = (path: string) => isToolState(path);
      const before = recordTree(base, skip);
      const run = await room.run(toJobSpec(["sh", "-c", script], { guard, timeout_ms: 20_000 }));
      await room.close();
      const after = recordTree(base, skip);
      const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
        (path) => before[path] !== after[path],
      );
      const inDomain = changed.filter((path) => !isOutside(path));
      expect(inDomain).toEqual([]);
      expect(run.condition.startsWith("RESTORATION_FAILED")).toBe(false);
      expect(findMarked({ run_id: "run-1", work: join(root, ".verbatim/state/catalytic/run-1") })).toEqual([]);
      const outside = changed.filter((path) => path.startsWith("repo/"));
      if (guard === "ns-overlay" || guard === "ns-bind") {
        expect(changed).toEqual([]);
        expect(run.violations).toEqual([]);
      } else if (outside.length > 0) expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION" });
      if (guard !== "audit") expect(changed.filter((path) => !path.startsWith("repo/"))).toEqual([]);
    } finally {
      await runDisk.discard(base);
    }
  });
});

describe("extended attributes", () => {
  it.each(["ns-overlay", "ns-bind"] as const)("cannot be set outside under %s", async (guard) => {
    const { base, root } = makeCatalyticRepo();
    const room = openCatalytic(base, root, withProbes);
    const script =
      "import os,sys\ntry:\n os.setxattr('src/app.txt', b'user.x', b'1')\nexcept OSError as e:\n print('blocked', e.errno)\n";
    const python = findPython();
    if (python === null) return;
    const run = await room.run(toJobSpec([python, "-c", script], { guard }));
    await room.close();
    expect(run.accepted).toBe(true);
    expect(readFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "utf8")).toMatch(/^blocked/);
    await runDisk.discard(base);
  });
});

function findPython(): string | null {
  return ["/usr/bin/python3", "/usr/local/bin/python3"].find((place) => existsSync(place)) ?? null;
}

describe("an interruption", () => {
  it.each([
    ["once", 1, "SIGINT"],
    ["twice", 2, "SIGINT"],
    ["by SIGTERM", 1, "SIGTERM"],
  ] as const)("%s ends the command, restores and proves", async (_, times, signal) => {
    const { base, root } = makeCatalyticRepo();
    const before = recordTree(join(root, D));
    let send: ((name: "SIGINT" | "SIGTERM") => void) | undefined;
    const room = openCatalytic(base, root, (ports) => ({
      ...ports,
      guards: { ...ports.guards, probe: async () => probes as never },
      interrupts: {
        listen(onSignal) {
          send = onSignal;
          return () => undefined;
        },
      },
      onOutput: () => {
        for (let i = 0; i < times; i++) send?.(signal);
      },
    }));
    const stubborn = times === 2 ? "trap '' INT TERM;" : "";
    const run = await room.run(
      toJobSpec(["sh", "-c", `${stubborn} echo x > ${D}/a.txt; echo started; sleep 30; sleep 30`]),
    );
    await room.close();
    expect(run).toMatchObject({ accepted: false, condition: "INTERRUPTED", interrupted_by: signal, status: "failed" });
    expect(recordTree(join(root, D))).toEqual(before);
    await runDisk.discard(base);
  });
});

describe("a namespace without network", () => {
  it("cannot reach the host's loopback", async () => {
    const { base, root } = makeCatalyticRepo();
    const room = openCatalytic(base, root, withProbes);
    const run = await room.run(toJobSpec(["sh", "-c", "cat /proc/net/dev | grep -c :"], { network: "none" }));
    await room.close();
    expect(run.accepted).toBe(true);
    expect(readFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "utf8").trim()).toBe("1");
    await runDisk.discard(base);
  });
});
