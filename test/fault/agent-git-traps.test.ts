import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuards } from "../../src/adapters/guards/index.ts";
import type { GuardName } from "../../src/core/contracts/guards.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { openCatalytic } from "../support/catalytic-repo.ts";
import { BIN } from "../support/cli.ts";
import { plantGitTraps } from "../support/git-traps.ts";
import { diskFolder } from "../support/memory-folder.ts";
import { findClosedFolder } from "../support/somebody.ts";

/**
 * The law of guards: outside a guard no program runs on what the guarded command could have written. An agent fills its
 * private repository with everything that makes git start a program; whatever the tool does afterwards, none of it runs.
 */
const GUARDS = ["ns-overlay", "ns-bind", "landlock", "audit"] as const;

let scratch: string;
let probes: Partial<Record<"perl" | "bubblewrap", Readonly<Partial<Record<GuardName, string>>>>>;

beforeAll(async () => {
  scratch = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-traps-")));
  chmodSync(scratch, 0o755);
  probes = {};
  for (const bind of ["perl", "bubblewrap"] as const)
    probes[bind] = await createGuards(null, scratch, bind).probe(true);
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("traps for git in an agent's private repository", () => {
  it.for(GUARDS)(
    "stay unsprung under %s, through capture, verification, apply and rollback",
    async (guard, { skip }) => {
      if (probes.perl?.[guard] !== "ok") skip(`${guard}: ${probes.perl?.[guard]}`);
      const repo = makeAgentRepo();
      const marks = join(repo.base, "marks");
      mkdirSync(marks);
      repo.write("lamp.txt", "off\n");
      repo.git("add", ".");
      repo.git("commit", "-qm", "first");
      // A program of the user's own, which the candidate names for its files.
      repo.git("config", "filter.user.clean", `sh -c 'touch ${marks}/user-filter'`);
      repo.git("config", "filter.user.smudge", `sh -c 'touch ${marks}/user-filter'`);
      repo.git("config", "diff.user.textconv", `sh -c 'touch ${marks}/user-textconv'`);
      const change = [
        plantGitTraps(marks),
        // As long as before, so that git must read it to see the change.
        "echo lit > lamp.txt",
        "echo '* filter=user diff=user' > .gitattributes",
        "mkdir sub; cp .gitattributes sub/; echo new > sub/new.txt; echo new > new.txt",
      ].join("\n");
      const before = repo.git("status", "--porcelain");
      const { summary, result } = await repo.agent(
        ["--guard", guard, "--permit", ".gitattributes", "--verify", "grep -q lit lamp.txt"],
        ["sh", "-c", change],
      );
      expect([summary.outcome, summary.reason, result.stderr]).toEqual(["verified", null, expect.any(String)]);
      expect(summary.proof.concurrent_changes).toEqual([]);
      expect(readdirSync(marks)).toEqual([]);
      expect((await repo.verbatim("agent", "show", summary.run_id)).exit).toBe(0);
      expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
      expect(readdirSync(marks)).toEqual([]);
      expect((await repo.verbatim("workflow", "rollback", summary.run_id)).exit).toBe(0);
      expect(readdirSync(marks)).toEqual([]);
      expect(repo.git("status", "--porcelain")).toBe(before);
    },
  );

  it("stay unsprung under ns-bind by bubblewrap", async ({ skip }) => {
    if (probes.bubblewrap?.["ns-bind"] !== "ok") skip(`bubblewrap: ${probes.bubblewrap?.["ns-bind"]}`);
    const repo = makeAgentRepo();
    const marks = join(repo.base, "marks");
    mkdirSync(marks);
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const guards = { ...createGuards(null, scratch, "bubblewrap"), probe: async () => probes.bubblewrap as never };
    const room = openCatalytic(repo.base, repo.root, (ports) => ({ ...ports, guards }));
    const { run, changes } = await runInView(room.ports, {
      ...room.places,
      command: ["sh", "-c", `${plantGitTraps(marks)}\necho on > lamp.txt`],
      intent: "Plant traps",
      guard: "ns-bind",
    });
    await room.close();
    expect([run.condition, [...changes.changed.keys()]]).toEqual(["RESTORED_IDENTICAL", ["lamp.txt"]]);
    expect(readdirSync(marks)).toEqual([]);
  });

  it.for(GUARDS)("stay unsprung under %s for somebody who is not root", (guard, { skip }) => {
    if (process.getuid?.() !== 0) skip("the other tests run without root already");
    const closed = findClosedFolder(dirname(BIN));
    if (closed !== null) skip(`somebody else may not enter ${closed}`);
    const base = join(scratch, `user-${guard}`);
    const [root, marks, home] = [join(base, "repo"), join(base, "marks"), join(base, "home")];
    for (const folder of [base, root, marks, home]) mkdirSync(folder);
    for (const folder of [base, root, marks, home]) chownSync(folder, NOBODY.uid, NOBODY.gid);
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_STATE_HOME: join(home, "state"), NO_COLOR: "1" };
    const options = { cwd: root, env, encoding: "utf8", ...NOBODY } as const;
    const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
    for (const args of [
      ["init", "-q"],
      [...who, "commit", "-q", "--allow-empty", "-m", "first"],
    ])
      execFileSync("git", args, { ...options, stdio: "pipe" });
    const script = `${plantGitTraps(marks)}\necho on > lamp.txt`;
    const flags = ["agent", "--goal", "x", "--no-verify", "--guard", guard, "--json", "--", "sh", "-c", script];
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...flags], options);
    if (stderr.includes("GUARD_UNAVAILABLE")) skip(`${guard} does not work here without root`);
    expect([status, (JSON.parse(stdout) as { outcome: string }).outcome]).toEqual([0, "unverified"]);
    expect(readdirSync(marks)).toEqual([]);
    expect(existsSync(join(root, "lamp.txt"))).toBe(false);
  });
});

const NOBODY = { uid: 65_534, gid: 65_534 };
