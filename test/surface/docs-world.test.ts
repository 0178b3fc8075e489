// docs/rooms/world.md: every command and every request in it is run, and what it shows must be what is printed.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { runCli } from "../../src/surfaces/cli/run.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";

const page = readFileSync(new URL("../../docs/rooms/world.md", import.meta.url), "utf8");

interface Step {
  readonly command: string;
  readonly words: readonly string[];
  readonly shown: string;
}

/** Commands of the blocks of one kind, each with the lines below it. */
function readSteps(kind: string): Step[] {
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, text]) => text!);
  return blocks.flatMap((block) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command, ...lines] = step.trimEnd().split("\n");
        return { command: command!, words: toWords(command!), shown: lines.join("\n") };
      }),
  );
}

/** Words as a shell reads them: quotes may begin in the middle of one. */
function toWords(command: string): string[] {
  const words = command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...words].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
}

const PLACES: Readonly<Record<string, string>> = {
  "<entry>": "e_[a-z2-7]{16}",
  "<hash>": "[0-9a-f]{64}",
  "<n>": "[0-9]+",
  "<any>": "[\\s\\S]*",
};

function toPattern(shown: string): RegExp {
  const escaped = shown.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/<(?:entry|hash|n|any)>/g, (place) => PLACES[place]!)}$`);
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-docs-world-"));
  for (const [, name, text] of page.matchAll(/```(\w+\.json)\n([\s\S]*?)```/g))
    writeFileSync(join(folder, name!), text!);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(argv: readonly string[]): Promise<string> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const parts: string[] = [];
  const said: string[] = [];
  stdout.setEncoding("utf8").on("data", (text: string) => parts.push(text));
  stderr.setEncoding("utf8").on("data", (text: string) => said.push(text));
  const streams = { stdin: new PassThrough(), stdout, stderr } as never;
  const env = { XDG_CONFIG_HOME: join(folder, "config") };
  await runCli({ argv, cwd: folder, env, platform: process.platform, version: "0.0.0", streams });
  const error = /^error\[.*$/m.exec(said.join(""))?.[0] ?? "";
  return `${parts.join("")}${error}`.trimEnd();
}

/** Runs a request in a shell, as a reader would; curl ends with an error when the time for a stream is over. */
function curl(command: string, url: string): Promise<string> {
  return new Promise((resolve) => {
    const env = { ...process.env, URL: url };
    execFile("bash", ["-c", command], { env, cwd: folder }, (_, stdout) => resolve(stdout.trimEnd()));
  });
}

describe("docs/rooms/world.md", () => {
  it("shows what its commands print", async () => {
    const steps = readSteps("console");
    expect(steps.length).toBeGreaterThan(18);
    for (const { words, shown } of steps) {
      expect(words[0]).toBe("verbatim");
      expect(await run(words.slice(1)), words.join(" ")).toMatch(toPattern(shown));
    }
  });

  it("shows what its requests answer", async () => {
    await using app = openApp({ surface: "http", start: folder, env: {}, platform: process.platform });
    await using http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0 });
    writeFileSync(join(folder, "api.curl"), `header = "Authorization: Bearer ${http.token}"\n`);
    const steps = readSteps("curl");
    expect(steps.length).toBeGreaterThan(5);
    for (const { command, shown } of steps) {
      expect(command.startsWith("curl ")).toBe(true);
      expect(await curl(command, http.url), command).toMatch(toPattern(shown));
    }
  });
});
