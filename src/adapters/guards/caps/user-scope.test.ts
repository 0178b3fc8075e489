import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { needs } from "../../../../test/support/needs.ts";
import { forgetScopes, openUserScope } from "./user-scope.ts";

// Plain folders in place of the file system of the groups, and a program that only says how it was called in place of
// systemd-run: what is written where, and what becomes of the launcher. With a real systemd it was tried by hand, see ADR 62.

const linux = process.platform === "linux" ? null : "control groups are those of Linux";
const CAPS = { memory: 1_000_000_000, processes: 77, disk: 1 };

describe("a scope of the user's systemd", needs(linux), () => {
  const folders: string[] = [];
  afterEach(() => {
    forgetScopes();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });
  const make = (ends = 'exec "$@"') => {
    const base = mkdtempSync(join(tmpdir(), "scope-"));
    folders.push(base);
    const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? "/";
    const group = join(base, "groups", own);
    mkdirSync(group, { recursive: true });
    mkdirSync(join(base, "run/systemd"), { recursive: true });
    writeFileSync(join(base, "run/systemd/private"), "");
    const tool = join(base, "systemd-run");
    const log = join(base, "log");
    writeFileSync(
      tool,
      `#!/bin/sh\necho "$XDG_RUNTIME_DIR $*" >> ${log}\nwhile [ "$1" != -- ]; do shift; done; shift\n${ends}\n`,
    );
    chmodSync(tool, 0o755);
    const open = (env: Record<string, string> = { XDG_RUNTIME_DIR: join(base, "run") }) =>
      openUserScope(CAPS, join(base, "groups"), env, tool);
    const clear = () => {
      for (const name of ["keep", "box"]) rmSync(join(group, name), { recursive: true });
    };
    return { base, group, log, open, clear };
  };

  it("is tried once, then has room for the launcher beside the group with the limits", () => {
    const { base, group, log, open, clear } = make();
    const scope = open()!;
    expect(scope.procs).toBe(`${scope.limited}/in/cgroup.procs`);
    // It really went in.
    expect(readFileSync(join(group, "box/in/cgroup.procs"), "utf8")).toBe("0\n");
    clear();
    const [program, ...words] = scope.starter;
    const { stdout } = spawnSync(program!, [...words, "/bin/echo", "the launcher", "$0"], {
      encoding: "utf8",
      env: {},
    });
    expect(stdout).toBe("the launcher $0\n");
    const read = (name: string) => readFileSync(join(group, name), "utf8");
    expect(["box/memory.max", "box/pids.max", "keep/cgroup.procs", "cgroup.subtree_control"].map(read)).toEqual([
      "1000000000\n",
      "77\n",
      "0\n",
      "+memory +pids\n",
    ]);
    clear();
    open();
    const calls = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .filter((line) => line.includes("--scope"));
    expect(calls.length).toBe(2);
    expect(calls[0]).toMatch(
      new RegExp(
        `^${base}/run --user --scope --quiet --collect --unit=verbatim-[0-9]+-[0-9a-f]{12} -p Delegate=yes -- `,
      ),
    );
  });

  it("is not there without a systemd of the user, or where it gives no limits", () => {
    const { open } = make("exit 1");
    expect(open({})).toBeNull();
    expect(open({ XDG_RUNTIME_DIR: "relative" })).toBeNull();
    expect(open({ XDG_RUNTIME_DIR: "/nowhere" })).toBeNull();
    expect(open()).toBeNull();
  });
});
