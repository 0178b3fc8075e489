import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { forgetJoined, openControlGroup } from "./control-group.ts";
import { findGroupPlaces } from "./group-places.ts";

const MIXED = [
  "31 24 0:27 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro",
  "32 31 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate",
  "33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
  "34 31 0:30 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
  "35 31 0:31 / /sys/fs/cgroup/pids\\040here rw - cgroup cgroup rw,pids",
].join("\n");

describe("where a process stands", () => {
  it("is found in both versions, below the part of each tree that is mounted", () => {
    expect(findGroupPlaces(MIXED, "5:memory:/box/job\n4:pids:/a\n0::/user/app/x\n")).toEqual({
      unified: [
        "/sys/fs/cgroup/unified/user/app/x",
        "/sys/fs/cgroup/unified/user/app",
        "/sys/fs/cgroup/unified/user",
        "/sys/fs/cgroup/unified",
      ],
      memory: "/sys/fs/cgroup/memory/job",
      pids: "/sys/fs/cgroup/pids here/a",
    });
  });

  it("is nowhere outside what is mounted, and where nothing is", () => {
    expect(findGroupPlaces(MIXED, "5:memory:/boxes/job\n4:pids:/../a\n")).toEqual({
      unified: [],
      memory: null,
      pids: null,
    });
    expect(findGroupPlaces("", "0::/\n")).toEqual({ unified: [], memory: null, pids: null });
  });
});

// Plain folders in place of the file system of the second version: which files are written with what. That a kernel heeds
// them could not be tried here.
describe("a group of the second version", () => {
  const caps = { memory: 1_000_000_000, processes: 77, disk: 1 };
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  const make = (...levels: { readonly control: string }[]) => {
    const top = mkdtempSync(join(tmpdir(), "groups-"));
    folders.push(top);
    let at = top;
    const unified = levels.map(({ control }, i) => {
      if (i > 0) at = join(at, `g${i}`);
      mkdirSync(at, { recursive: true });
      writeFileSync(join(at, "cgroup.subtree_control"), control);
      writeFileSync(join(at, "cgroup.procs"), "");
      return at;
    });
    return unified.reverse();
  };
  const open = (unified: readonly string[]) => openControlGroup(caps, { unified, memory: null, pids: null });

  it("is made below the nearest one that limits its children, with the command one level further in", () => {
    const unified = make({ control: "cpu\n" }, { control: "cpu memory pids\n" }, { control: "\n" });
    const group = open(unified);
    expect(group).toMatchObject({ version: 2, holds: ["memory", "processes"] });
    const inner = dirname(group!.procs[0]!);
    const limited = dirname(inner);
    expect(dirname(limited)).toBe(unified[1]);
    expect(readFileSync(join(limited, "memory.max"), "utf8")).toBe("1000000000");
    expect(readFileSync(join(limited, "pids.max"), "utf8")).toBe("77");
    // The probe really wrote itself in.
    expect(readFileSync(group!.procs[0]!, "utf8")).toBe("0\n");
    expect([group!.findHit("memory"), group!.findHit("processes")]).toEqual([null, null]);
    writeFileSync(join(limited, "memory.events"), "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 1\n");
    writeFileSync(join(limited, "memory.peak"), "999997440\n");
    writeFileSync(join(limited, "pids.events"), "max 3\n");
    expect([group!.findHit("memory"), group!.findHit("processes")]).toEqual([999_997_440, 77]);
  });

  it("is tried once in a place, and again after a command could not be started in one", () => {
    const unified = make({ control: "memory pids" });
    const isTried = () => existsSync(open(unified)!.procs[0]!);
    expect([isTried(), isTried()]).toEqual([true, false]);
    forgetJoined();
    expect(isTried()).toBe(true);
  });

  it("holds what its place can hold, and is not made where nothing is limited", () => {
    expect(open(make({ control: "pids" }))).toMatchObject({ holds: ["processes"] });
    const bare = make({ control: "cpu" }, { control: "" });
    expect(open(bare)).toBeNull();
    expect(existsSync(join(bare[0]!, "cgroup.procs"))).toBe(true);
  });
});
