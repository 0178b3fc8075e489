import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caps } from "../../src/core/contracts/caps.ts";
import { type Capped, type CappedRequest, runCapped } from "../support/caps-cage.ts";
import { bundleChild } from "../support/child.ts";
import { VARIANTS, type Variant } from "../support/guard-variants.ts";
import { needs } from "../support/needs.ts";
import { makeCageFolder, removeCage } from "../support/network-cage.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

// Guards: a command that takes more than its caps is ended, under every guard, as root and as an ordinary user, whatever
// the kernel gives; what it did until then is there. What counts is how far the command itself got.

const MIB = 1024 ** 2;
const CAPS: Caps = { memory: 64 * MIB, processes: 24, disk: 8 * MIB };

/** Says before each step how far it is. Steps are slow enough for somebody who looks twice a second. */
const HOG = `$| = 1; my $x = ""; for my $i (1 .. 200) { print $i * 8, "\\n"; $x .= "x" x (8 << 20); select(undef, undef, undef, 0.1) }`;
/** Forks until the kernel says no, which it tells; its children wait. */
const FORKS = `$| = 1; my $n = 0; while ($n < 300) { my $p = fork(); if (!defined $p) { print "no $n\\n"; last } if (!$p) { sleep 30; exit } $n++ } print "all\\n" if $n == 300; sleep 30`;
const FILE = `open(my $f, ">", "big") or die; my $x = "x" x 1048576; for (1 .. 64) { syswrite($f, $x) or last } print "wrote\\n"`;
/** Each file is small; together they are too much. */
const FILES = `$| = 1; for my $i (1 .. 24) { open(my $f, ">", "part$i") or die; syswrite($f, "x" x 1048576); close($f) } print "wrote\\n"`;
const PROGRAMS = { memory: HOG, processes: FORKS, file: FILE, files: FILES } as const;
type Attack = keyof typeof PROGRAMS;
const ATTACKS = Object.keys(PROGRAMS) as Attack[];

const USERS: readonly {
  readonly user: string;
  readonly isSomebody: boolean;
  readonly ungrouped: boolean;
  readonly attacks: readonly Attack[];
}[] = [
  { user: "root or whoever runs the tests", isSomebody: false, ungrouped: false, attacks: ATTACKS },
  { user: "the same without a control group", isSomebody: false, ungrouped: true, attacks: ["memory", "processes"] },
  { user: "an ordinary user", isSomebody: true, ungrouped: false, attacks: ["memory", "processes", "file"] },
];
type User = (typeof USERS)[number];

const linux = process.platform === "linux" ? null : "these guards are those of Linux";
const closed = findClosedFolder(fileURLToPath(new URL("../..", import.meta.url)));
const folders: string[] = [];
const runs = new Map<string, Promise<readonly (Capped | string)[]>>();
let program: Awaited<ReturnType<typeof bundleChild>>;

function attack(
  { guard, bind }: Variant,
  { isSomebody, ungrouped, attacks }: User,
): Promise<readonly (Capped | string)[]> {
  const key = `${guard} ${bind} ${isSomebody} ${ungrouped}`;
  const known = runs.get(key);
  if (known !== undefined) return known;
  const requests = attacks.map((name): CappedRequest => {
    const base = makeCageFolder(isSomebody);
    folders.push(base);
    const caps = name === "processes" ? { ...CAPS, memory: 1024 * MIB } : CAPS;
    return { guard, bind, base, caps, command: ["/usr/bin/perl", "-e", PROGRAMS[name]], ungrouped };
  });
  const ran = (async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program.file, JSON.stringify(requests)], {
      env: { PATH: "/usr/bin:/bin" },
      ...(isSomebody ? SOMEBODY : {}),
    });
    return JSON.parse(stdout) as readonly (Capped | string)[];
  })();
  runs.set(key, ran);
  ran.catch(() => undefined);
  return ran;
}

beforeAll(async () => {
  if (linux !== null) return;
  program = await bundleChild("test/support/caps-child.ts");
  // All at once: most of their time they wait.
  for (const variant of VARIANTS) {
    for (const user of USERS) if (!user.isSomebody || closed === null) void attack(variant, user);
  }
});

afterAll(async () => {
  await Promise.allSettled(runs.values());
  for (const folder of folders) removeCage(folder);
  program?.remove();
});

/** What the kernel gives a process of this user, by its own files and not by ours. */
function hasFirstVersion(controller: string): boolean {
  return existsSync(`/sys/fs/cgroup/${controller}/cgroup.procs`) && process.getuid?.() === 0;
}

describe.each(VARIANTS)("with $name", { ...needs(linux), concurrent: true }, (variant) => {
  describe.each(USERS)("as $user", (user) => {
    const isNamespace = variant.guard === "ns-overlay" || variant.guard === "ns-bind";
    const isHeldByKernel = !user.isSomebody && !user.ungrouped && hasFirstVersion("memory");

    it.for(user.attacks)("too much %s ends it", async (name, context) => {
      if (user.isSomebody && closed !== null) return context.skip(`somebody else may not enter ${closed}`);
      const ran = (await attack(variant, user))[user.attacks.indexOf(name)]!;
      if (typeof ran === "string") return context.skip(`the guard does not work here: ${ran}`);
      const { output, hit, held, left } = ran;
      const cap = name === "file" || name === "files" ? "disk" : name;
      // A group of the second version is whatever this machine gives this user; what it promises is asked for all the same.
      const isUnified = (of: "memory" | "processes") => !user.ungrouped && held?.[of] === "cgroup2";
      expect(hit).toMatchObject({ cap, limit: CAPS[cap] });
      if (name === "memory") {
        const reached = Number(output.trim().split("\n").at(-1)) * MIB;
        expect(reached).toBeGreaterThan(16 * MIB);
        // The kernel stops it at the cap; somebody who looks twice a second, a little later.
        if (isHeldByKernel || isUnified("memory")) expect(reached).toBeLessThanOrEqual(CAPS.memory);
        else expect(reached).toBeLessThan(200 * 8 * MIB);
        if (!isUnified("memory")) expect(held?.memory).toBe(isHeldByKernel ? "cgroup1" : "watch");
      }
      if (name === "processes") {
        const isCounted = isHeldByKernel || isUnified("processes") || (isNamespace && user.isSomebody);
        // fork() itself failed, or nobody stopped it before it was looked at.
        if (isCounted) expect(Number(/^no ([0-9]+)$/m.exec(output)?.[1])).toBeLessThanOrEqual(CAPS.processes);
        else expect(hit?.used).toBeGreaterThanOrEqual(CAPS.processes);
        const mechanism = isHeldByKernel ? "cgroup1" : isCounted ? "rlimit" : "watch";
        if (!isUnified("processes")) expect(held?.processes).toBe(mechanism);
      }
      if (name === "file") {
        expect(output).toBe("");
        expect(left["big"]).toBeLessThanOrEqual(CAPS.disk);
        expect(left["big"]).toBeGreaterThan(CAPS.disk / 2);
      }
      if (name === "files") expect(left["part1"]).toBe(MIB);
    });
  });
});

describe("a control group", { ...needs(linux) }, () => {
  const cage = async (
    command: readonly string[],
    caps: Caps = CAPS,
    guard: "ns-overlay" | "ns-bind" = "ns-overlay",
  ) => {
    const base = makeCageFolder();
    folders.push(base);
    const ran = await runCapped({ guard, bind: "perl", base, caps, command, ungrouped: false });
    if (typeof ran === "string") throw new Error(ran);
    return ran;
  };
  const own = () => readFileSync("/proc/self/cgroup", "utf8");
  const needed = hasFirstVersion("pids") ? null : "the first version of control groups belongs to root";

  it("is entered by the command alone, and is gone afterwards", needs(needed), async () => {
    const { output, hit } = await cage(["/bin/cat", "/proc/self/cgroup"]);
    expect(hit).toBeNull();
    const [, place = ""] = /:pids:(.*)$/m.exec(output) ?? [];
    expect(place).toMatch(
      new RegExp(`^${/:pids:(.*)$/m.exec(own())![1]!.replace(/\/$/, "")}/verbatim-[0-9]+-[0-9a-f]{12}/in$`),
    );
    expect(existsSync(`/sys/fs/cgroup/pids${place}`)).toBe(false);
    expect(/:pids:(.*)$/m.exec(own())![1]).not.toContain("verbatim-");
  });

  it("of a tool that was killed is removed by the next", needs(needed), async () => {
    const { mkdirSync } = await import("node:fs");
    const at = `/sys/fs/cgroup/pids${/:pids:(.*)$/m.exec(own())![1]}`.replace(/\/$/, "");
    // A number that no process has.
    const left = `${at}/verbatim-4194305-000000000000`;
    mkdirSync(`${left}/in`, { recursive: true });
    await cage(["/bin/true"]);
    expect(existsSync(left)).toBe(false);
    expect(readdirSync(at).filter((name) => name.startsWith("verbatim-4194305"))).toEqual([]);
  });

  it("keeps its limits from a command that mounts the groups itself", needs(needed), async () => {
    // Raw calls: a program started in between would lose the rights. What it sees as the top is its own group, inside the one
    // that has the limits.
    const [unshare, mount] = process.arch === "arm64" ? [97, 40] : [272, 165];
    const steps = [
      `my ($none, $at, $kind, $what) = ("none", "m", "cgroup", "pids"); mkdir $at`,
      `syscall(${unshare}, 0x12020000) == 0 or print "unshare: $!\\n"`,
      `syscall(${mount}, $none, $at, $kind, 0, $what) == 0 or print "mount: $!\\n"`,
      `if (open(my $f, ">", "m/pids.max")) { print "its own: ", (syswrite($f, "max") ? "max" : $!), "\\n" } else { print "its own: $!\\n" }`,
      FORKS,
    ];
    const { output, hit } = await cage(["/usr/bin/perl", "-e", steps.join("; ")]);
    expect(output).toContain("its own: max\n");
    expect(Number(/^no ([0-9]+)$/m.exec(output)?.[1])).toBeLessThanOrEqual(CAPS.processes);
    expect(hit).toMatchObject({ cap: "processes" });
  });

  it("is not what ends a command that stays within its caps", async () => {
    const { hit, exit_code, output } = await cage(["/bin/sh", "-c", "echo x > small; cat small"]);
    expect([hit, exit_code, output]).toEqual([null, 0, "x\n"]);
  });
});

describe("what is in memory", needs(linux), () => {
  it.each(["ns-overlay", "ns-bind"] as const)(
    "has room for half of the memory at most: /tmp and /dev/shm with %s",
    async (guard) => {
      const base = makeCageFolder();
      folders.push(base);
      const script =
        "for d in /tmp /dev/shm /dev; do head -c 80000000 /dev/zero > $d/f 2>/dev/null; stat -c %s $d/f 2>/dev/null || echo none; rm -f $d/f; done";
      const caps = { ...CAPS, disk: 1e9 };
      const ran = await runCapped({
        guard,
        bind: "perl",
        base,
        caps,
        command: ["/bin/sh", "-c", script],
        ungrouped: true,
      });
      if (typeof ran === "string") throw new Error(ran);
      const sizes = ran.output.trim().split("\n").map(Number);
      expect(sizes.slice(0, 2)).toEqual([32 * MIB, 32 * MIB]);
      expect(sizes[2]).toBeLessThanOrEqual(MIB);
    },
  );
});
