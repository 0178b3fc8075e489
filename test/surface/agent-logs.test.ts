import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { removeControls } from "../../src/app/agent/report/logs.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";

describe("the log of an agent run", () => {
  it.each([
    ["\u001b[32mgreen\u001b[0m\r\n", "green\n"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b(B\u001b=\u001b[?25l10%\r20%\r\n", "10%\n20%\n"],
    ["a\u0000b\u0007c\u009bd\u202ee\tf", "abcde\tf"],
    // What is never finished is only its own control character.
    ["\u001b]0;never", "]0;never"],
  ])("%j is shown as %j", (printed, shown) => {
    expect(removeControls(printed)).toBe(shown);
  });

  it("is read while the agent works and followed to its end, without control characters unless they are asked for", async () => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    // Outside of home and repository: the agent has layers of its own over those.
    const sign = join(repo.base, "go");
    const script = `printf '\\033[32mfirst\\033[0m\\n'; until [ -e ${sign} ]; do sleep 0.1; done; echo second; echo wrong >&2`;
    const args = [
      "agent",
      "--goal",
      "talk",
      "--verify",
      "echo checked",
      "--verify-sh",
      "echo oops >&2",
      "--json",
      "--",
      "sh",
      "-c",
      `${script}; echo on > lamp.txt`,
    ];
    const child = spawn(process.execPath, [BIN, ...args], { cwd: repo.root, env: repo.env, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("close", resolve));
    onTestFinished(() => void child.kill("SIGKILL"));
    const logs = (...flags: string[]) => repo.verbatim("agent", "logs", "@", ...flags);
    await vi.waitFor(async () => expect((await logs()).stdout).toBe("first\n"), { timeout: 200_000, interval: 200 });
    const listed = JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as {
      runs: { outcome: string }[];
    };
    expect(listed.runs[0]?.outcome).toBe("working");
    const following = logs("-f");
    writeFileSync(sign, "");
    expect(await following).toEqual({ exit: 0, stdout: "first\nsecond\nwrong\n", stderr: "" });
    await ended;
    expect((await logs("--raw")).stdout).toBe("\u001b[32mfirst\u001b[0m\nsecond\nwrong\n");
    // A command is named once; of its errors only where there are some.
    const checked = "$ echo checked\nchecked\n$ echo oops >&2\n";
    expect((await logs("--verify")).stdout).toBe(`${checked}$ echo oops >&2   (standard error)\noops\n`);
    expect((await logs("--json", "--raw")).stdout).toContain(Buffer.from("wrong\n").toString("base64"));
  });

  it("that became too long has its beginning and its newest, in order, and says what is not kept", async () => {
    const repo = makeAgentRepo();
    repo.write("verbatim.config.json", JSON.stringify({ catalytic: { limits: { log_bytes: 4000 } } }));
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const script = "i=1000; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done";
    await repo.verbatim("agent", "--goal", "talk", "--no-verify", "--", "sh", "-c", script);
    const { stdout } = await repo.verbatim("agent", "logs", "@");
    expect(stdout.split("\n").slice(0, 2)).toEqual(["line 1000", "line 1001"]);
    expect(stdout.endsWith("line 2998\nline 2999\n")).toBe(true);
    // 20,000 bytes: 1,000 of the beginning, and parts of 1,500 bytes of which the newest two are there.
    expect(stdout).toContain("\n[verbatim: 16500 bytes are not kept]\n");
    const [before, after] = stdout.split("\n[verbatim: 16500 bytes are not kept]\n");
    expect([before!.length, after!.length]).toEqual([1000, 2500]);
  });
});
