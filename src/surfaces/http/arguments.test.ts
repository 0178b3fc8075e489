// What a server is asked for wrongly is refused before anything starts. Whoever gets past that ends at once, as it was told to stop.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenHttp } from "./server/listener.ts";
import { runServe } from "./server/serve.ts";
import { runStudio } from "./server/studio.ts";

const DATABASE = { VERBATIM_DATABASE_URL: "postgres://127.0.0.1:1/nowhere" };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-arguments-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(start: typeof runServe, argv: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const said = { stdout: "", stderr: "" };
  const exit = await start({
    argv,
    cwd: folder,
    env: { HOME: folder, ...more },
    platform: process.platform,
    version: "0.0.0",
    stdout: { write: (text) => void (said.stdout += text) },
    stderr: { write: (text) => void (said.stderr += text) },
    signal: AbortSignal.abort(),
  });
  return { exit, ...said };
}

describe("verbatim serve", () => {
  it.each([
    [["--port", "x"], "x is not a port"],
    [["--port", "1.5"], "1.5 is not a port"],
    [["--port=-1"], "-1 is not a port"],
    [["--port", "65536"], "65536 is not a port"],
    [["--wait", "soon"], "soon is not a number of seconds"],
    [["--wait=-1"], "-1 is not a number of seconds"],
    [["--wait", "1000000"], "1000000 is not a number of seconds"],
  ])("refuses %j and says why", async (argv, said) => {
    expect(await run(runServe, argv, DATABASE)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error[USAGE] ${said}\n  fix: See verbatim serve --help\n`,
    });
  });

  it.each(["nowhere", "a b:80", "127.0.0.1:65536", "::1:80"])(
    "refuses --health %j and says how it is written",
    async (place) => {
      expect(await run(runServe, ["--health", place], DATABASE)).toEqual({
        exit: 2,
        stdout: "",
        stderr: `error[USAGE] ${place} is not an address like 127.0.0.1:9464\n  fix: Use HOST:PORT; an address with colons stands in brackets.\n`,
      });
    },
  );

  it("refuses a flag it does not have", async () => {
    const { exit, stdout, stderr } = await run(runServe, ["--token", "x"], DATABASE);
    expect([exit, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^error\[USAGE\] Unknown option '--token'/)]);
  });

  it.each([{}, { VERBATIM_DATABASE_URL: "" }])("is not started without a database: %j", async (env) => {
    const { exit, stdout, stderr } = await run(runServe, ["--port", "0"], env);
    expect([exit, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^error\[DATABASE_NOT_SET\] /)]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("verbatim studio", () => {
  it.each([
    [["--port", "x"], "x is not a port"],
    [["--port=-1"], "-1 is not a port"],
    [["--port", "65536"], "65536 is not a port"],
    ...["runs", "//evil.example/", "/\\evil.example", "/runs#k=0", "/a b", ""].map((at): [string[], string] => [
      ["--at", at],
      `${at} is not a path of the Studio`,
    ]),
  ])("refuses %j and says why", async (argv, said) => {
    expect(await run(runStudio, argv)).toEqual({
      exit: 2,
      stdout: "",
      stderr: `error[USAGE] ${said}\n  fix: See verbatim studio --help\n`,
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

it("a port that somebody else has is named, and nobody waits for it", async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
  });
  try {
    await expect(listenHttp(() => new Response(), "127.0.0.1", port)).rejects.toMatchObject({
      code: "USAGE",
      message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
    });
  } finally {
    other.close();
  }
});
