// `npm start` ends here: the story, then the Studio over its sample.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findTool } from "../../src/adapters/guards/tools.ts";
import { BIN } from "../support/cli.ts";
import { needs } from "../support/needs.ts";

const SCRIPT = findTool("script");

function makeHome(): { readonly folder: string; readonly env: Record<string, string> } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-start-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ["home", "tmp"]) mkdirSync(join(folder, name));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(folder, "home"),
    NO_COLOR: "1",
    TMPDIR: join(folder, "tmp"),
  };
  return { folder, env };
}

/** Everything a process says until some words have come; the whole of it once it has ended. */
function follow(child: ChildProcess): {
  until(words: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<string>;
} {
  let said = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(said)));
  const until = (words: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = words.exec(said);
        if (found !== null) resolve(found);
      };
      listeners.add(look);
      void ended.then(() => reject(new Error(`${words} never came:\n${said}`)));
      look();
    });
  return { until, ended };
}

describe("the story that opens the Studio", () => {
  it("prints the command without a terminal, and that command serves the run of the story", async () => {
    const { folder, env } = makeHome();
    const told = spawn(process.execPath, [BIN, "demo", "--studio"], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const text = await follow(told).ended;
    const lines =
      /export XDG_CONFIG_HOME=(\S+) XDG_STATE_HOME=\1\n {2}verbatim (studio -C (\S+) --at \/runs\/(\S+))\n$/;
    const found = lines.exec(text);
    expect(found, text).not.toBeNull();
    const [, home, command, repository, run] = found!;
    expect(existsSync(repository!)).toBe(true);
    const args = [BIN, ...command!.split(" "), "--port", "0", "--token", "token-of-the-story"];
    const own = { ...env, XDG_CONFIG_HOME: home!, XDG_STATE_HOME: home! };
    const server = spawn(process.execPath, args, { cwd: folder, env: own, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void server.kill("SIGKILL"));
    const [link] = await follow(server).until(/http\S+(?=\n)/);
    expect(new URL(link!).pathname).toBe(`/runs/${run}`);
    const answer = await fetch(`${new URL(link!).origin}/api/operations/agent.show`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer token-of-the-story" },
      body: JSON.stringify({ run }),
    });
    const { summary } = (await answer.json()) as { readonly summary: { readonly outcome: string } };
    expect(summary.outcome).toBe("applied");
    rmSync(dirname(repository!), { recursive: true, force: true });
  });

  it(
    "stays on a terminal until it is interrupted, then removes the sample and has left nothing at home",
    needs(SCRIPT === null ? "needs script" : null),
    async () => {
      const { folder, env } = makeHome();
      const line = [process.execPath, BIN, "demo", "--studio"].map((word) => `'${word}'`).join(" ");
      const child = spawn(SCRIPT!, ["-qefc", line, "/dev/null"], { cwd: folder, env });
      onTestFinished(() => void child.kill("SIGKILL"));
      const terminal = follow(child);
      const [link] = await terminal.until(/http\S+#k=[0-9a-f]{32}/);
      expect(readdirSync(env["TMPDIR"]!)).toHaveLength(1);
      const page = await fetch(link!);
      expect(await page.text()).toContain('<div id="studio">');
      child.stdin.write("\u0003");
      await terminal.ended;
      expect(readdirSync(env["TMPDIR"]!)).toEqual([]);
      expect(readdirSync(env["HOME"]!, { recursive: true })).toEqual([]);
    },
  );
});
