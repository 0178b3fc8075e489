import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";

// Guards: an agent that takes more than it may is ended as over_limit, what it had done is kept and can be judged, the
// record says what held, and its verify commands may take no more.

const linux = process.platform === "linux" ? null : "these guards are those of Linux";

function makeRepo(config: object = {}) {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "dark\n");
  repo.write("verbatim.config.json", JSON.stringify(config));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return { ...repo, verbatim: (...args: string[]) => runHere(args, { cwd: repo.root, env: repo.env }) };
}

const HOG = `/usr/bin/perl -e 'my $x = ""; for (1 .. 200) { $x .= "x" x (8 << 20); select(undef, undef, undef, 0.05) }'`;

interface Shown {
  readonly run_id: string;
  readonly run_dir: string;
  readonly outcome: string;
  readonly reason: string;
  readonly changes: { readonly files: readonly { readonly path: string }[] };
}

describe("the caps of an agent", needs(linux), () => {
  it("end it as over its limit, with its numbers, and keep what it had done", async () => {
    const { verbatim, root } = makeRepo();
    const flags = ["agent", "--goal", "mend the lamp", "--verify", "grep light lamp.txt", "--memory", "64M"];
    const said = await verbatim(...flags, "--json", "--", "/bin/sh", "-c", `echo light > lamp.txt; ${HOG}; exit 0`);
    expect(said.exit).toBe(1);
    const shown = JSON.parse(said.stdout) as Shown;
    expect(shown).toMatchObject({
      outcome: "over_limit",
      code: "AGENT_OVER_LIMIT",
      changes: { files: [{ path: "lamp.txt" }] },
    });
    expect(shown.reason).toMatch(/^the agent used more memory than the 67\.1 MB it was allowed \(--memory\)/);
    const attempt = JSON.parse(readFileSync(join(shown.run_dir, "agent/attempts/01/attempt.json"), "utf8"));
    expect(attempt.end).toMatchObject({ kind: "limit", limit: "memory" });
    expect(attempt.caps).toMatchObject({
      wanted: { memory: 64 * 1024 ** 2, processes: 2048, disk: 20_000_000_000 },
      hit: { cap: "memory", limit: 64 * 1024 ** 2 },
    });
    expect(["cgroup2", "cgroup1", "watch"]).toContain(attempt.caps.mechanism.memory);
    expect(readFileSync(join(root, "lamp.txt"), "utf8")).toBe("dark\n");
    const ledger = await verbatim("ledger", "export", "--stream", `workflow/${shown.run_id}`);
    const entry = ledger.stdout.split("\n").find((line) => line.includes("AGENT_LIMIT_HIT"));
    expect(JSON.parse(entry ?? "{}").body).toMatchObject({ n: 1, cap: "memory", limit: 64 * 1024 ** 2 });
    const { stdout: text, stderr } = await verbatim("agent", "show", "@");
    expect(stderr).toBe("");
    expect(text).toMatch(/was ended after [0-9.]+ m?s \(--memory\)/);
    expect(text).toContain("over its limit: the agent used more memory");
    expect(text.replaceAll(/\s+/g, " ")).toContain("give it more: --memory 135MB");
    const judged = await verbatim("agent", "verify", "@", "--memory", "512M", "--json");
    expect([judged.exit, JSON.parse(judged.stdout).outcome]).toEqual([0, "verified"]);
  });

  it("hold for its verify commands as well, and the report says so", async () => {
    const { verbatim } = makeRepo();
    const flags = ["agent", "--goal", "mend", "--verify-sh", HOG, "--no-baseline", "--memory", "64M"];
    const said = await verbatim(...flags, "--json", "--", "/bin/sh", "-c", "echo light > lamp.txt");
    expect(said.exit).toBe(1);
    const shown = JSON.parse(said.stdout) as Shown;
    expect(shown.outcome).toBe("verify_failed");
    expect(shown.reason).toMatch(/^the verify commands used more memory than the 67\.1 MB/);
    const report = JSON.parse(readFileSync(join(shown.run_dir, "agent/verifications/01/report.json"), "utf8"));
    expect(report.caps).toMatchObject({ memory: 64 * 1024 ** 2, processes: 2048, disk_by: "watch" });
  });

  it("hold for verify commands that no guard holds back, whatever they leave behind", async () => {
    const { verbatim, trust } = makeRepo({ workflow: { verify: { isolation: "worktree" } } });
    trust();
    const flags = [
      "agent",
      "--goal",
      "mend",
      "--verify-sh",
      `setsid ${HOG} & wait`,
      "--no-baseline",
      "--memory",
      "64M",
    ];
    const said = await verbatim(...flags, "--json", "--", "/bin/sh", "-c", "echo light > lamp.txt");
    const shown = JSON.parse(said.stdout) as Shown;
    expect([said.exit, shown.outcome]).toEqual([1, "verify_failed"]);
    expect(shown.reason).toMatch(/^the verify commands used more memory than the 67\.1 MB/);
    const report = JSON.parse(readFileSync(join(shown.run_dir, "agent/verifications/01/report.json"), "utf8"));
    expect(report).toMatchObject({ base: { kind: "checkout" }, caps: { memory: 64 * 1024 ** 2, disk_by: "watch" } });
    const full = ["agent", "--goal", "mend", "--verify-sh", "head -c 4000000 /dev/zero > big", "--disk", "2M"];
    const ended = await verbatim(...full, "--no-baseline", "--json", "--", "/bin/sh", "-c", "echo light > lamp.txt");
    expect((JSON.parse(ended.stdout) as Shown).reason).toMatch(
      /^the verify commands used more disk space than the 2\.1 MB/,
    );
  });

  it("come from the configuration, which a flag overrides", async () => {
    const { verbatim } = makeRepo({ agent: { caps: { disk: "2MB" } } });
    const write = "head -c 4000000 /dev/zero > big.bin";
    const said = await verbatim("agent", "--goal", "x", "--no-verify", "--json", "--", "/bin/sh", "-c", write);
    expect(JSON.parse(said.stdout)).toMatchObject({ outcome: "over_limit" });
    expect((JSON.parse(said.stdout) as Shown).reason).toContain("more disk space than the 2.0 MB");
    const flags = ["agent", "--goal", "x", "--no-verify", "--disk", "9MB", "--max-binary", "9MB", "--json"];
    const more = await verbatim(...flags, "--", "/bin/sh", "-c", write);
    expect([more.exit, JSON.parse(more.stdout).outcome]).toEqual([0, "unverified"]);
  });
});
