import { chmodSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { findMarked } from "../../src/adapters/process/leftovers.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { isToolState, makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";
import { isNamespace, tryVariants, VARIANTS, type Variants } from "../support/guard-variants.ts";
import { diskFolder } from "../support/memory-folder.ts";

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
  /** It tries to end the process that watches over it. */
  readonly killsWatcher?: boolean;
  readonly timeout_ms?: number;
  readonly condition?: string;
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
    script: `echo x > ${diskFolder()}/verbatim-escape-$$ ; echo x > /var/tmp/verbatim-escape-$$`,
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
    script: `cd ${D}; perl -e 'for (1..400) { mkdir "dddddddddddd"; chdir "dddddddddddd" } open(F, ">", "f")'`,
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
  { name: "is killed by its own child", script: "(sleep 0.05; kill -9 $PPID) & kill -9 $$", killsWatcher: true },
  {
    name: "writes into a read-only folder of the domain, opened first",
    setup: (root) => {
      mkdirSync(join(root, D, "locked"));
      writeFileSync(join(root, D, "locked/f"), "f");
      chmodSync(join(root, D, "locked/f"), 0o400);
      chmodSync(join(root, D, "locked"), 0o555);
    },
    script: `chmod u+w ${D}/locked ${D}/locked/f; echo x >> ${D}/locked/f; rm -f ${D}/locked/f; echo y > ${D}/locked/g`,
  },
  {
    name: "opens and changes a domain that was closed",
    setup: (root) => chmodSync(join(root, D), 0o555),
    script: `chmod 755 ${D}; echo x > ${D}/a.txt; echo y > ${D}/new`,
  },
  {
    name: "never ends",
    timeout_ms: 300,
    condition: "COMMAND_TIMED_OUT",
    script: `echo x > ${D}/a.txt; sleep 60; echo late > src/late`,
  },
  {
    name: "never ends and does not listen",
    timeout_ms: 300,
    condition: "COMMAND_TIMED_OUT",
    script: `trap '' TERM INT HUP; echo x > ${D}/a.txt; (trap '' TERM; sleep 60) & sleep 60; sleep 60; echo late > src/late`,
  },
  {
    name: "plants an entry in the memory of runs",
    script: "mkdir -p .verbatim/state/memo/ab/abcd; echo '{}' > .verbatim/state/memo/ab/abcd/ENTRY.json",
  },
  { name: "swaps two folders of the repository", script: "mv src src2; mkdir src; mv src2/app.txt src/app.txt" },
  {
    name: "replaces a file by a folder and a folder by a file, in the domain",
    script: `rm ${D}/a.txt; mkdir ${D}/a.txt; rm -rf ${D}/sub; echo x > ${D}/sub`,
  },
  { name: "writes through the folder it was started in", script: "exec 7<.; echo x > /proc/self/fd/7/src/app.txt" },
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

let guards: Variants;

beforeAll(async () => {
  guards = await tryVariants();
});

afterAll(() => guards.close());

describe.each(VARIANTS)("under $name a command that", (variant) => {
  const { guard } = variant;

  it.concurrent.for(ATTACKS)("$name", async (attack, context) => {
    const { script, setup, unguarded, timeout_ms = 20_000, condition } = attack;
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    if (guard === "audit" && unguarded === false) context.skip("without a guard it would really change this machine");
    const { base, root } = makeCatalyticRepo();
    try {
      setup?.(root);
      const room = openCatalytic(base, root, guards.ports(variant));
      const before = recordTree(base, isToolState);
      const run = await room.run(toJobSpec(["sh", "-c", script], { guard, timeout_ms })).catch((thrown: unknown) => {
        // Where it can reach the process that watches over it, it may be faster than that one's last words.
        if (attack.killsWatcher !== true || isNamespace(variant)) throw thrown;
        expect(thrown).toMatchObject({ code: "GUARD_LOST" });
        return null;
      });
      await room.close();
      const after = recordTree(base, isToolState);
      const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
        (path) => before[path] !== after[path],
      );
      expect(changed.filter((path) => path.startsWith(`repo/${D}`))).toEqual([]);
      if (run === null) {
        expect(changed).toEqual([]);
        return;
      }
      expect(run.condition.startsWith("RESTORATION_FAILED")).toBe(false);
      if (condition !== undefined) expect(run).toMatchObject({ accepted: false, condition, exit_code: 124 });
      expect(findMarked({ run_id: "run-1", work: join(root, ".verbatim/state/catalytic/run-1") })).toEqual([]);
      const outside = changed.filter((path) => path.startsWith("repo/"));
      if (isNamespace(variant)) {
        expect(changed).toEqual([]);
        expect(run.violations).toEqual([]);
      } else if (outside.length > 0) expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION" });
      if (guard !== "audit") expect(changed.filter((path) => !path.startsWith("repo/"))).toEqual([]);
    } finally {
      await runDisk.discard(base);
    }
  });

  it.concurrent("sets an extended attribute outside", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const { base, root } = makeCatalyticRepo();
    const room = openCatalytic(base, root, guards.ports(variant));
    const number = process.arch === "arm64" ? 5 : 188;
    const script = `my ($f, $n, $v) = ("src/app.txt", "user.x", "1"); print syscall(${number}, $f, $n, $v, 1, 0) == 0 ? "done" : "blocked"`;
    const run = await room.run(toJobSpec(["perl", "-e", script], { guard }));
    await room.close();
    const answer = readFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "utf8");
    if (isNamespace(variant)) expect(answer).toBe("blocked");
    if (answer === "blocked") expect(run.accepted).toBe(true);
    else {
      const violation = { code: "OUTSIDE_CHANGED", path: "src/app.txt", fields: ["ctime_ns"] };
      expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION", violations: [violation] });
    }
    await runDisk.discard(base);
  });

  it.concurrent.for([
    ["once", 1, "SIGINT"],
    ["twice", 2, "SIGINT"],
    ["by SIGTERM", 1, "SIGTERM"],
  ] as const)("is interrupted %s ends, is restored and proved", async ([, times, signal], context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const { base, root } = makeCatalyticRepo();
    const before = recordTree(join(root, D));
    let send: ((name: "SIGINT" | "SIGTERM") => void) | undefined;
    const more: Partial<CatalyticPorts> = {
      interrupts: {
        listen(onSignal) {
          send = onSignal;
          return () => undefined;
        },
      },
      onOutput: () => {
        for (let i = 0; i < times; i++) send?.(signal);
      },
    };
    const room = openCatalytic(base, root, guards.ports(variant, more));
    const stubborn = times === 2 ? "trap '' INT TERM;" : "";
    const script = `${stubborn} echo x > ${D}/a.txt; echo started; sleep 30; sleep 30`;
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
    await room.close();
    expect(run).toMatchObject({ accepted: false, condition: "INTERRUPTED", interrupted_by: signal, status: "failed" });
    expect(recordTree(join(root, D))).toEqual(before);
    await runDisk.discard(base);
  });
});

describe.each(VARIANTS.filter(isNamespace))("a namespace without network, under $name", (variant) => {
  it("has no interface but its own loopback", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const { base, root } = makeCatalyticRepo();
    const room = openCatalytic(base, root, guards.ports(variant));
    const spec = { guard: variant.guard, network: "none" };
    const run = await room.run(toJobSpec(["sh", "-c", "cat /proc/net/dev | grep -c :"], spec));
    await room.close();
    expect(run.accepted).toBe(true);
    expect(readFileSync(join(root, ".verbatim/runs/run-1/STDOUT.log"), "utf8").trim()).toBe("1");
    await runDisk.discard(base);
  });
});
