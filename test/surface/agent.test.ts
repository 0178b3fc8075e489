import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo, recordWithTools, type Summary } from "../support/agent-repo.ts";
import { misbehaver, NODE_AGENT, SHELL_AGENT } from "../support/agents.ts";
import { runCli } from "../support/cli.ts";

/** `verbatim agent` with real commands. The real tree is compared by find, sha256sum and stat, never by our code. */

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("src/lamp.txt", "off\n");
  repo.write("src/oil.txt", "oil\n");
  repo.write("docs/old.md", "# Old\n");
  repo.write("tools/ring.sh", "#!/bin/sh\necho ding\n");
  repo.write(".gitignore", "build/\n*.log\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  repo.write("build/out.bin", new Uint8Array([0, 1, 2, 3]));
  return repo;
}

// An agent has a temporary folder of its own, so a checkout that lies in the real one cannot be started from there.
const HIDDEN = /^(?:\/tmp|\/var\/tmp)\//.test(new URL("../..", import.meta.url).pathname);
const WHY_HIDDEN = "the checkout lies in the temporary folder, which agents do not see";

describe("the real tree after an agent and before apply", () => {
  it("is as it was after a shell script, and its change is verified, applied and rolled back", async () => {
    const repo = makeSample();
    const before = recordWithTools(repo.root);
    const { exit, summary } = await repo.agent(["--verify", "grep -q on src/lamp.txt"], SHELL_AGENT.command(repo.base));
    expect([exit, summary.outcome, summary.reason]).toEqual([0, "verified", null]);
    expect(recordWithTools(repo.root)).toBe(before);
    expect(summary.agent.commits).toBe(1);
    expect(summary.changes.files.map(({ path, operation }) => [path, operation])).toEqual([
      ["docs/old.md", "delete"],
      ["src/fuel.txt", "create"],
      ["src/lamp.txt", "modify"],
      ["src/new/deep.txt", "create"],
      ["src/oil.txt", "delete"],
      ["tools/ring.sh", "mode"],
    ]);
    expect(summary.proof.tree_root_after).toBe(summary.proof.tree_root_before);
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("on\n");
    expect(existsSync(join(repo.root, "src/oil.txt"))).toBe(false);
    expect((await repo.verbatim("workflow", "rollback", summary.run_id)).exit).toBe(0);
    expect(repo.git("status", "--short")).toBe("");
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    expect(shown.stdout).toContain("undone: your tree is as it was before the change was applied");
    expect((await repo.verbatim("agent", "list")).stdout).toMatch(/ undone /);
    expect(shown.stdout).not.toContain("discarded");
  });

  it("was changed by nobody else when a run shares records with the one before", async () => {
    const repo = makeSample();
    const change = ["sh", "-c", "echo on > src/lamp.txt"];
    for (let run = 0; run < 3; run++) {
      const { summary } = await repo.agent(["--no-verify"], change);
      expect(summary.proof.concurrent_changes).toEqual([]);
    }
  });

  it.each(["loose", "packed"])("was changed by nobody else when git met %s objects again that it has", async (kind) => {
    const repo = makeSample();
    if (kind === "packed") {
      repo.git("gc", "-q", "--prune=now");
      const packs = join(repo.root, ".git/objects/pack");
      // git does not touch what is as young as it would make it.
      for (const name of readdirSync(packs)) utimesSync(join(packs, name), 1_600_000_000, 1_600_000_000);
    }
    // A file with a new time makes git read it again, and touch the object that it finds to be the same.
    const touched = repo.git("ls-files").trim().split("\n");
    for (const path of touched) utimesSync(join(repo.root, path), 1_700_000_000, 1_700_000_000);
    const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", "echo on > src/lamp.txt"]);
    expect(summary.proof.concurrent_changes).toEqual([]);
  });

  it("is as it was after a program with children and daemons, and none of them lives on", async ({ skip }) => {
    if (HIDDEN) skip(WHY_HIDDEN);
    const repo = makeSample();
    const before = recordWithTools(repo.root);
    const { exit, summary } = await repo.agent(["--no-verify"], NODE_AGENT.command(repo.base));
    expect([exit, summary.outcome]).toEqual([0, "unverified"]);
    expect(recordWithTools(repo.root)).toBe(before);
    const marked = execFileSync("sh", ["-c", "ps -eo args | grep -c '[d]aemon.txt' || true"], { encoding: "utf8" });
    expect(marked.trim()).toBe("0");
  });

  it("is as it was after one that misbehaves in every way it can think of", async () => {
    const repo = makeSample();
    const outside = join(repo.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "victim.txt"), "untouched\n");
    const before = recordWithTools(repo.root);
    const { summary } = await repo.agent(["--no-verify"], misbehaver(repo.root, outside).command(repo.base));
    expect(recordWithTools(repo.root)).toBe(before);
    expect(readFileSync(join(outside, "victim.txt"), "utf8")).toBe("untouched\n");
    expect(existsSync(join(repo.root, ".verbatim/planted"))).toBe(false);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["src/lamp.txt"]);
    expect(summary.changes.not_carried).toEqual([{ path: "src/pipe", why: "special_file", sha256: null }]);
    expect((await repo.verbatim("ledger", "verify")).exit).toBe(0);
  });
});

describe("bad ends", () => {
  it.each([
    ["exits with an error", ["sh", "-c", "echo x > src/new.txt; exit 3"], [], 3, "agent_failed"],
    ["is killed", ["sh", "-c", "echo x > src/new.txt; kill -9 $$"], [], 137, "agent_failed"],
    ["takes too long", ["sh", "-c", "echo x > src/new.txt; sleep 60"], ["--timeout", "1s"], 124, "timed_out"],
  ])("an agent that %s leaves a record and nothing else", async (_, command, flags, code, outcome) => {
    const repo = makeSample();
    const before = recordWithTools(repo.root);
    const { exit, summary } = await repo.agent(["--no-verify", ...flags], command);
    expect([exit, summary.outcome, summary.agent.exit_code]).toEqual([1, outcome, code]);
    expect(summary.reason).not.toBe("");
    expect(recordWithTools(repo.root)).toBe(before);
    expect(readFileSync(join(summary.run_dir, "agent/candidates/01/diff.patch"), "utf8")).toContain("src/new.txt");
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).not.toBe(0);
    expect(recordWithTools(repo.root)).toBe(before);
  });

  it("a change that does not pass the verify command cannot be applied", async () => {
    const repo = makeSample();
    const { exit, summary } = await repo.agent(
      ["--verify", "grep -q blue src/lamp.txt"],
      ["sh", "-c", "echo red > src/lamp.txt"],
    );
    expect([exit, summary.outcome, summary.verify?.result]).toEqual([1, "verify_failed", "FAIL"]);
    const applied = await repo.verbatim("agent", "apply", summary.run_id);
    expect([applied.exit, repo.git("status", "--short")]).toEqual([1, ""]);
  });

  it("without a verify command nothing starts, and the error says how to give one", async () => {
    const repo = makeSample();
    const { exit, stderr, stdout } = await repo.verbatim("agent", "--goal", "x", "--", "touch", "src/ran");
    expect([exit, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("error[VERIFY_NOT_CONFIGURED]");
    expect((await repo.verbatim("agent", "list")).stdout).toContain("no agent runs yet");
  });

  it("outside a git repository, without a goal, or with a command that is not there nothing runs", async () => {
    const repo = makeAgentRepo();
    expect((await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "true")).stderr).toContain("REPO_NOT_GIT");
    expect(readdirSync(repo.root)).toEqual([".git"]);
    repo.write("a.txt", "a\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    expect((await repo.verbatim("agent", "--no-verify", "--", "true")).stderr).toContain("goal");
    const missing = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "no-such-agent");
    expect(missing.stderr).toContain("COMMAND_NOT_FOUND");
    const listed = JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as { runs: Summary[] };
    expect(listed.runs.map(({ outcome, reason }) => [outcome, reason?.split(":", 2)])).toEqual([
      ["not_started", ["the agent could not be started", " PREFLIGHT_REJECTED"]],
    ]);
  });

  it("a file to show that is not there, a pack that cannot be made, and a path outside are refused", async () => {
    const repo = makeSample();
    const run = async (...flags: string[]) => {
      const words = ["agent", "--goal", "x", "--no-verify", ...flags, "--", "sh", "-c", "echo ran >&2"];
      const { exit, stderr } = await repo.verbatim(...words);
      expect(stderr).not.toMatch(/^ran$/m);
      return [exit, /error\[([A-Z_]+)\]/.exec(stderr)?.[1]];
    };
    expect(await run("--file", "no/such.txt")).toEqual([2, "FILE_NOT_FOUND"]);
    expect(await run("--file", "src/lamp.txt")).toEqual([1, "MANDATORY_DOC_MISSING"]);
    expect(await run("--leave-out", "../outside")).toEqual([2, "USAGE"]);
    expect(await run("--keep", "relative")).toEqual([2, "USAGE"]);
    expect(await run("--keep", join(repo.base, "not-there"))).toEqual([2, "FILE_NOT_FOUND"]);
  });
});

describe("scope", () => {
  it("a denied path rejects the change; discard ends the run", async () => {
    const repo = makeSample();
    const { exit, summary } = await repo.agent(
      ["--no-verify", "--deny", "docs"],
      ["sh", "-c", "echo x >> docs/old.md; echo x >> src/oil.txt"],
    );
    expect([exit, summary.outcome]).toEqual([1, "rejected"]);
    expect(summary.gate?.findings).toMatchObject([
      { code: "PATCH_SCOPE_DENY", rule: "scope_deny", path: "docs/old.md", says: "docs/old.md is denied by --deny" },
    ]);
    const other = await repo.agent(["--no-verify", "--allow", "src"], ["sh", "-c", "echo x >> src/oil.txt"]);
    expect(other.summary.outcome).toBe("unverified");
    const discarded = await repo.verbatim("agent", "discard", other.summary.run_id);
    expect(discarded.exit).toBe(0);
    expect((await repo.verbatim("agent", "apply", other.summary.run_id)).exit).toBe(1);
    expect((await repo.verbatim("agent", "list")).stdout).toMatch(/discarded/);
  });

  it("a scope with wildcards is refused in the words of the person, with the folder that was meant", async () => {
    const repo = makeSample();
    const refused = async (flag: string, value: string) => {
      const { exit, stdout, stderr } = await repo.verbatim(
        "agent",
        "--goal",
        "x",
        "--no-verify",
        flag,
        value,
        "--",
        "true",
      );
      expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining("error[USAGE]")]);
      expect(stderr).not.toContain("PLAN");
      return stderr;
    };
    const denied = await refused("--deny", "infra/**");
    expect(denied).toContain('--deny "infra/**" is not a file or folder inside the repository');
    expect(denied).toContain("A folder covers everything below it: --deny infra\n");
    expect(await refused("--allow", "src/*.ts")).toContain("A folder covers everything below it: --allow src\n");
    expect(await refused("--allow", "*.ts")).toContain("Give a path from the root of the repository");
    expect(await refused("--deny", "../elsewhere")).toContain('--deny "../elsewhere" is not a file');
    expect((await repo.verbatim("agent", "list")).stdout).not.toMatch(/not started|preparing/);
  });

  it("a forbidden root is read-only in the view, and the rest of the change goes on", async () => {
    const repo = makeSample();
    repo.write("verbatim.config.json", '{"catalytic":{"forbidden_roots":["docs"]}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "forbid");
    const { exit, summary, result } = await repo.agent(
      ["--no-verify"],
      ["sh", "-c", "echo x >> docs/old.md; echo x >> src/oil.txt"],
    );
    expect([exit, summary.outcome]).toEqual([0, "unverified"]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["src/oil.txt"]);
    expect(result.stderr).toContain("docs/old.md");
  });
});

describe("trees as people have them", () => {
  it("local changes, untracked files, ignored folders and links are part of the view and stay as they are", async () => {
    const repo = makeSample();
    repo.write("src/lamp.txt", "half\n");
    repo.write("notes.txt", "untracked\n");
    repo.write("debug.log", "ignored\n");
    symlinkSync("src/lamp.txt", join(repo.root, "shortcut"));
    repo.git("add", "src/lamp.txt");
    repo.write("src/lamp.txt", "half and more\n");
    const before = recordWithTools(repo.root);
    const script =
      "cat src/lamp.txt notes.txt build/out.bin debug.log shortcut > /dev/null && echo mended >> notes.txt && echo on >> shortcut && echo z > build/more && echo z >> debug.log";
    const { exit, summary } = await repo.agent(["--verify", "grep -q mended notes.txt"], ["sh", "-ec", script]);
    expect([exit, summary.outcome, summary.reason]).toEqual([0, "verified", null]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["notes.txt", "src/lamp.txt"]);
    expect(summary.changes.ignored).toBe(2);
    expect(recordWithTools(repo.root)).toBe(before);
    expect((await repo.verbatim("agent", "apply", summary.run_id)).exit).toBe(0);
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("half and more\non\n");
    expect(repo.git("show", ":src/lamp.txt")).toBe("half\n");
  });

  it("a folder in the place of another with the same names, sizes and times is found", async () => {
    const repo = makeSample();
    for (const [folder, text] of [
      ["a", "one\n"],
      ["b", "two\n"],
    ] as const)
      repo.write(`${folder}/x/y/f.txt`, text);
    execFileSync("sh", ["-c", "find a b -exec touch -d '2001-02-03' {} +"], { cwd: repo.root });
    repo.git("add", ".");
    repo.git("commit", "-qm", "twins");
    const script = "rm -rf b && mv a b && mkdir a && mv tools a/ && chmod 700 docs";
    const { exit, summary } = await repo.agent(["--no-verify"], ["sh", "-ec", script]);
    expect([exit, summary.outcome]).toEqual([0, "unverified"]);
    expect(summary.changes.files.map(({ path, operation }) => [path, operation])).toEqual([
      ["a/tools/ring.sh", "create"],
      ["a/x/y/f.txt", "delete"],
      ["b/x/y/f.txt", "modify"],
      ["tools/ring.sh", "delete"],
    ]);
  });

  it("binaries and links travel, and what is left out is kept", async () => {
    const repo = makeSample();
    const script = "head -c 300000 /dev/zero > src/big.dat; ln -s lamp.txt src/link; echo on > src/lamp.txt";
    const { exit, summary } = await repo.agent(["--no-verify"], ["sh", "-c", script]);
    expect([exit, summary.outcome]).toEqual([0, "unverified"]);
    expect([summary.changes.binaries, summary.changes.links]).toEqual([["src/big.dat"], ["src/link"]]);
    const without = ["--no-verify", "--leave-out", "src/big.dat", "--leave-out", "src/link"];
    const again = await repo.agent(without, ["sh", "-c", script]);
    expect([again.exit, again.summary.outcome]).toEqual([0, "unverified"]);
    const kept = again.summary.changes.not_carried.find(({ path }) => path === "src/big.dat");
    expect(kept?.why).toBe("left_out");
    const blob = join(repo.root, ".verbatim/state/blobs/sha256", kept!.sha256!.slice(0, 2), kept!.sha256!.slice(2, 4));
    expect(existsSync(blob)).toBe(true);
  });

  it("changes inside a submodule do not travel, and the submodule stays as it is", async () => {
    const repo = makeSample();
    const inner = join(repo.base, "inner");
    execFileSync("git", ["init", "-q", inner]);
    writeFileSync(join(inner, "gear.txt"), "gear\n");
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", inner, "-c", "user.name=M", "-c", "user.email=m@example.org", ...args]);
    git("add", ".");
    git("commit", "-qm", "gear");
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "parts");
    repo.git("commit", "-qm", "parts");
    const before = recordWithTools(repo.root);
    const { exit, summary } = await repo.agent(
      ["--no-verify"],
      ["sh", "-c", "echo oiled >> parts/gear.txt; echo on > src/lamp.txt"],
    );
    expect([exit, summary.outcome]).toEqual([1, "rejected"]);
    expect(recordWithTools(repo.root)).toBe(before);
    const again = await repo.agent(
      ["--no-verify", "--leave-out", "parts"],
      ["sh", "-c", "echo oiled >> parts/gear.txt; echo on > src/lamp.txt"],
    );
    expect([again.exit, again.summary.outcome]).toEqual([0, "unverified"]);
    expect(recordWithTools(repo.root)).toBe(before);
  });
});

describe("what is left out", () => {
  it("is a path with everything below it, and not what only begins like it", async () => {
    const repo = makeSample();
    const script = "mkdir gen gen2; echo 1 > gen/x; echo 2 > gen2/y; echo 3 > generated.txt; echo 4 > src/gen";
    const { summary } = await repo.agent(["--no-verify", "--leave-out", "gen"], ["sh", "-c", script]);
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["gen2/y", "generated.txt", "src/gen"]);
    expect(summary.changes.not_carried).toEqual([expect.objectContaining({ path: "gen/x", why: "left_out" })]);
  });
});

describe("what the agent is given", () => {
  it("its environment names the run and the pack; what its hooks say comes home as a report", async ({ skip }) => {
    if (HIDDEN) skip(WHY_HIDDEN);
    const repo = makeSample();
    repo.write("verbatim.config.json", '{"workflow":{"mandatory_docs":[]}}');
    repo.git("add", ".");
    repo.git("commit", "-qm", "config");
    const bin = new URL("../../bin/verbatim.js", import.meta.url).pathname;
    const call = JSON.stringify({
      session_id: "s",
      cwd: repo.root,
      hook_event_name: "PreToolUse",
      tool_name: "Write",
      tool_input: { file_path: join(repo.root, "docs/x.md"), content: "" },
    });
    const script = [
      'echo "$VERBATIM_RUN" > src/run.txt',
      'test -r "$VERBATIM_PACK" && grep -q oil.txt "$VERBATIM_PACK"',
      'test -z "$VERBATIM_MCP_URL"',
      `printf '%s' '${call}' | ${process.execPath} ${bin} hook pre-tool | grep -q deny`,
      `printf '%s' '${call.replace("docs/x.md", "src/x.ts")}' | ${process.execPath} ${bin} hook pre-tool`,
      // The policy is told early, in the words of the gate; what the run permits is not refused.
      `printf '%s' '${call.replace("docs/x.md", "src/.env")}' | ${process.execPath} ${bin} hook pre-tool > said`,
      "grep -q 'src/.env is not to be changed: its name says that it holds a secret. Allow it: --permit src/.env' said",
      `printf '%s' '${call.replace("docs/x.md", "src/.npmrc")}' | ${process.execPath} ${bin} hook pre-tool > said`,
      "! grep -q deny said",
      "rm said",
    ].join("\n");
    const { exit, summary, result } = await repo.agent(
      ["--no-verify", "--allow", "src", "--file", "src/oil.txt", "--permit", "src/.npmrc"],
      ["sh", "-ec", script],
    );
    expect([exit, summary.outcome, result.stderr.includes("blocked, the hook failed")]).toEqual([
      0,
      "unverified",
      false,
    ]);
    expect(summary.shown.files).toEqual(["src/oil.txt"]);
    expect(summary.hooks).toEqual({ reported: 4, reported_blocked: 2 });
    const ledger = await repo.verbatim("ledger", "show", "--stream", `workflow/${summary.run_id}`, "--json");
    expect(ledger.stdout).toContain("HOOK_REPORTED");
  });

  it("the caller's standard input, and a command after -- is a command even when it is called like a verb", async () => {
    const repo = makeSample();
    const bin = join(repo.base, "home/bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "list"), "#!/bin/sh\ncat > src/heard.txt\n", { mode: 0o755 });
    const env = { ...repo.env, PATH: `${bin}:${repo.env["PATH"]}` };
    const args = ["agent", "--goal", "x", "--no-verify", "--json", "--", "list"];
    const { exit, stdout } = await runCli(args, { cwd: repo.root, env, stdin: "two words\n" });
    const { run_id } = JSON.parse(stdout) as { run_id: string };
    expect(exit).toBe(0);
    expect((await repo.verbatim("agent", "show", run_id, "--diff")).stdout).toContain("+two words");
  });

  it("its home can be written and nothing of that stays, except what was kept", async () => {
    const repo = makeSample();
    mkdirSync(join(repo.base, "home/.login"));
    const script = "echo cache > $HOME/.cache-of-agent; echo token > $HOME/.login/token; echo on > src/lamp.txt";
    const { exit, summary } = await repo.agent(
      ["--no-verify", "--keep", join(repo.base, "home/.login")],
      ["sh", "-ec", script],
    );
    expect([exit, summary.proof.guard]).toEqual([0, "ns-overlay"]);
    expect(existsSync(join(repo.base, "home/.cache-of-agent"))).toBe(false);
    expect(readFileSync(join(repo.base, "home/.login/token"), "utf8")).toBe("token\n");
  });

  it("--hash-all reads every file again and comes to the same root", async () => {
    const repo = makeSample();
    const quick = await repo.agent(["--no-verify"], ["true"]);
    const slow = await repo.agent(["--no-verify", "--hash-all", "--leave-out", "build"], ["true"]);
    expect([quick.summary.outcome, slow.summary.outcome]).toEqual(["unchanged", "unchanged"]);
    expect([quick.summary.proof.hashed, slow.summary.proof.hashed]).toEqual(["what could have changed", "everything"]);
  });
});

describe("the summary", () => {
  it("fits 80 columns and says what to do next", async () => {
    const repo = makeSample();
    const { exit, stdout } = await repo.verbatim(
      "agent",
      "--goal",
      "mend the lamp on Gull Rock before the ships come",
      "--verify",
      "grep -q on src/lamp.txt",
      "--",
      "sh",
      "-c",
      "echo on > src/lamp.txt",
    );
    expect(exit).toBe(0);
    for (const line of stdout.split("\n").filter((one) => !one.includes("/")))
      expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).toMatch(/✓ your tree nothing in it was changed by the agent/);
    expect(stdout).toMatch(/verbatim agent apply \d{8}-\d{6}-[0-9a-f]{6}/);
  });

  it("agent.apply holds where --apply says nothing, and a repository that is not trusted cannot ask for auto", async () => {
    const repo = makeSample();
    repo.write("verbatim.config.json", JSON.stringify({ agent: { apply: "auto" } }));
    const refused = await repo.verbatim(
      "agent",
      "--goal",
      "x",
      "--no-verify",
      "--",
      "sh",
      "-c",
      "echo on > src/lamp.txt",
    );
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain("asks for agent.apply");
    expect(refused.stderr).toContain("--apply auto");
    repo.trust();
    const auto = await repo.agent(["--no-verify"], ["sh", "-c", "echo on > src/lamp.txt"]);
    expect(auto.summary.outcome).toBe("applied");
    const kept = await repo.agent(["--no-verify", "--apply", "never"], ["sh", "-c", "echo off > src/lamp.txt"]);
    expect(kept.summary.outcome).toBe("unverified");
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("on\n");
  });

  it("--apply auto applies at once, and a tree that moved on is refused", async () => {
    const repo = makeSample();
    const auto = await repo.agent(["--no-verify", "--apply", "auto"], ["sh", "-c", "echo on > src/lamp.txt"]);
    expect([auto.exit, auto.summary.outcome]).toEqual([0, "applied"]);
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("on\n");
    const later = await repo.agent(["--no-verify"], ["sh", "-c", "echo brighter > src/lamp.txt"]);
    repo.write("src/lamp.txt", "edited by a person\n");
    const refused = await repo.verbatim("agent", "apply", later.summary.run_id);
    expect([refused.exit, readFileSync(join(repo.root, "src/lamp.txt"), "utf8")]).toEqual([1, "edited by a person\n"]);
    expect(refused.stderr).toContain("error[LAND_CONFLICT] 1 file was changed by you and by the agent");
  });
});
