import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { runTool } from "../../src/adapters/process/tool.ts";
import { errnoCode } from "../../src/core/errors/system.ts";
import type { RunResult } from "../../src/rooms/catalytic/run/run.ts";
import { isToolState, makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";
import { bundleChild } from "../support/child.ts";
import { tryVariants, VARIANTS, type Variants } from "../support/guard-variants.ts";

/** Commands that attack whatever watches over them, or that try to outlive it. */

const NOBODY = 65534;

/** Attaches to the parent, writes an endless loop where it goes on, and lets it go. The numbers are those of x86-64. */
const GET_INTO_PARENT = String.raw`$| = 1; my $t = getppid();
if (syscall(101, 16, $t, 0, 0) != 0) { print "refused"; sleep 60 }
waitpid($t, 0); my ($at, $code) = ("\0" x 8, "\0" x 8);
syscall(101, 3, $t, 128, $at); $at = unpack("Q", $at); syscall(101, 1, $t, $at, $code);
syscall(101, 4, $t, $at, (unpack("Q", $code) & ~0xffff) | 0xfeeb); syscall(101, 17, $t, 0, 0);
print "inside"; $SIG{TERM} = "IGNORE"; sleep 60`;

interface Attack {
  readonly name: string;
  /** The only processor it is written for. */
  readonly arch?: string;
  readonly command: (base: string) => string[];
  readonly timeout_ms?: number;
  readonly condition?: string;
}

const sh = (script: string) => (base: string) => ["sh", "-c", script, base];

const ATTACKS: readonly Attack[] = [
  {
    name: "gets into the process that watches over it",
    arch: "x64",
    command: (base) => ["perl", "-e", GET_INTO_PARENT, base],
    timeout_ms: 300,
    condition: "COMMAND_TIMED_OUT",
  },
  {
    name: "stops the process that watches over it",
    command: sh("trap '' TERM; kill -STOP $PPID; sleep 60; sleep 60"),
    timeout_ms: 300,
    condition: "COMMAND_TIMED_OUT",
  },
  {
    name: "leaves a process without environment in a session of its own",
    command: sh('env -i setsid sh -c "sleep 60; echo late > src/late" "$0" </dev/null >/dev/null 2>&1 & exit 0'),
  },
  {
    name: "leaves a process whose parents ended one after another",
    command: sh(
      '(env -i setsid sh -c "(setsid sh -c \\"sleep 60; echo late > src/late\\" $0 &) &" "$0" </dev/null >/dev/null 2>&1 &) & exit 0',
    ),
  },
];

let guards: Variants;
let program: Awaited<ReturnType<typeof bundleChild>>;

beforeAll(async () => {
  guards = await tryVariants();
  program = await bundleChild("test/support/guarded-child.ts");
});

afterAll(() => {
  program.remove();
  return guards.close();
});

/** Every process that carries a text among its arguments. */
function findByArgument(text: string): string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^[0-9]+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0").includes(text);
    } catch (thrown) {
      if (["ENOENT", "ESRCH"].includes(errnoCode(thrown) ?? "")) return false;
      throw thrown;
    }
  });
}

interface Prepared {
  readonly attack: Attack;
  readonly base: string;
  readonly root: string;
  readonly command: string[];
  readonly more: { readonly guard: string; readonly timeout_ms: number };
}

function prepare(attack: Attack, guard: string): Prepared {
  const { base, root } = makeCatalyticRepo();
  const more = { guard, timeout_ms: attack.timeout_ms ?? 20_000 };
  return { attack, base, root, command: attack.command(base), more };
}

/** What is left after an attack. */
function look({ base, root }: Prepared, { condition, accepted }: RunResult) {
  const app = readFileSync(join(root, "src/app.txt"), "utf8");
  return { left: findByArgument(base), condition, accepted, tree: recordTree(base, isToolState), app };
}

/** What must be left: nothing that runs, and everything as it was. */
function toExpected({ attack }: Prepared, tree: Record<string, string>) {
  const { condition = "RESTORED_IDENTICAL" } = attack;
  return { left: [], condition, accepted: condition === "RESTORED_IDENTICAL", tree, app: "app\n" };
}

const here = ATTACKS.filter(({ arch = process.arch }) => arch === process.arch);

describe.concurrent.each(VARIANTS)("under $name a command that", (variant) => {
  const { guard, bind } = variant;

  it.concurrent.for(here)("$name is ended, and so is everything it left", async (attack, context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const one = prepare(attack, guard);
    const room = openCatalytic(one.base, one.root, guards.ports(variant));
    try {
      const before = recordTree(one.base, isToolState);
      const run = await room.run(toJobSpec(one.command, one.more));
      expect(look(one, run)).toEqual(toExpected(one, before));
    } finally {
      await room.close();
      await runDisk.discard(one.base);
    }
  });

  it.concurrent("ends the process that watches over it is never accepted, and leaves nothing", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const command = sh("echo more >> src/app.txt; kill -9 $PPID; sleep 60");
    const one = prepare({ name: "", command }, guard);
    const room = openCatalytic(one.base, one.root, guards.ports(variant));
    try {
      const before = recordTree(one.base, isToolState);
      const run = room.run(toJobSpec(one.command, { ...one.more, timeout_ms: 1500 }));
      // Only audit lets a command reach what watches over it; elsewhere its time runs out, or it is not heard.
      if (guard === "audit") await expect(run).rejects.toMatchObject({ code: "GUARD_LOST" });
      else expect((await run).accepted).toBe(false);
      expect(findByArgument(one.base)).toEqual([]);
      if (guard !== "audit") expect(recordTree(one.base, isToolState)).toEqual(before);
    } finally {
      await room.close();
      await runDisk.discard(one.base);
    }
  });

  it.concurrent("does any of that as an ordinary user is ended, and so is everything it left", async (context) => {
    if (process.getuid?.() !== 0) context.skip("the tests run as an ordinary user already");
    const all = here.map((attack) => prepare(attack, guard));
    try {
      for (const { base } of all) await runTool("chown", ["-R", `${NOBODY}:${NOBODY}`, base]);
      const before = all.map(({ base }) => recordTree(base, isToolState));
      const argv = [program.file, bind, JSON.stringify(all)];
      const { stdout } = await promisify(execFile)(process.execPath, argv, { uid: NOBODY, gid: NOBODY });
      const { answer, runs } = JSON.parse(stdout) as { answer: string; runs: RunResult[] };
      if (answer !== "ok") context.skip(`${variant.name} as an ordinary user: ${answer}`);
      for (const [i, one] of all.entries()) {
        expect(look(one, runs[i]!), one.attack.name).toEqual(toExpected(one, before[i]!));
      }
    } finally {
      for (const { base } of all) await runDisk.discard(base);
    }
  });
});
