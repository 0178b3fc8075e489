// docs/guides/write-a-client.md: its requests are sent and its programs are run, as they stand.
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { readBlocks, shimPath, toPattern, typeGuide } from "../support/guide-here.ts";

const page = readFileSync(new URL("../../docs/guides/write-a-client.md", import.meta.url), "utf8");
const TOKEN = "token-of-the-harbour-master";
const SAYS = {
  "library.mjs": "## Limits\n\nAt most five boats at the north quay.\n",
  "http.mjs": "Be kind to the gulls.\n",
  "mcp.mjs": "At most five boats at the north quay.\n",
};

function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly stdout: string; readonly stderr: string }>((resolve) => {
    execFile(command, args, { cwd, env, encoding: "utf8" }, (_, stdout, stderr) => resolve({ stdout, stderr }));
  });
}

describe("the guide for clients", () => {
  it("has requests and programs that work as they stand", async () => {
    const { base, env } = makeAgentRepo();
    expect(await typeGuide(page, { base, env })).toEqual({ run: 1, parsed: 1 });
    const root = join(base, "harbour");
    const app = openApp({ surface: "http", start: root, env, platform: process.platform });
    const http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0, token: TOKEN });
    onTestFinished(async () => {
      await http.close();
      await app.close();
    });
    writeFileSync(join(root, "api.curl"), `header = "Authorization: Bearer ${TOKEN}"\n`);
    const blocks = readBlocks(page);
    const steps = blocks.filter(({ kind }) => kind === "curl").flatMap(({ text }) => text.split(/^\$ /m).slice(1));
    expect(steps).toHaveLength(5);
    const around = { ...env, PATH: shimPath({ base, env }), URL: http.url, TOKEN };
    for (const step of steps) {
      const [command, ...shown] = step.trimEnd().split("\n");
      const { stdout } = await run("bash", ["-c", command!], root, around);
      expect(stdout.trim(), command).toMatch(toPattern(shown.join("\n")));
    }
    const programs = blocks.filter(({ kind }) => kind.startsWith("js "));
    expect(programs.map(({ kind }) => kind.slice(3))).toEqual(Object.keys(SAYS));
    const library = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
    // The official client is a package of the checkout; the repository of the guide may lie anywhere.
    symlinkSync(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(base, "node_modules"));
    for (const { kind, text } of programs) {
      const name = kind.slice(3) as keyof typeof SAYS;
      // The package under its own name is what npm installs (test/surface/pack.test.ts); here it is the build.
      writeFileSync(join(root, name), text.replace('"verbatim-agent"', JSON.stringify(library)));
      const { stdout, stderr } = await run(process.execPath, [name], root, around);
      expect([name, stderr.includes("Error"), stdout.slice(-SAYS[name].length)]).toEqual([name, false, SAYS[name]]);
    }
  });
});
