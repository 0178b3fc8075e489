import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { landlockAbi } from "../../adapters/guards/landlock.ts";
import { openApp } from "../call.ts";
import { composeAlone } from "../compose/compose.ts";
import { wiring } from "../compose/hall.ts";
import { describeLandlock, diagnose as diagnosePorts } from "./doctor.ts";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

async function diagnose(isolation: string): Promise<readonly Check[]> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-doctor-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  writeFileSync(join(base, "verbatim.config.json"), JSON.stringify({ workflow: { verify: { isolation } } }));
  await using app = openApp({ surface: "library", start: base, env: { HOME: base }, platform: process.platform });
  return ((await app.call("hall.doctor", {})) as { readonly checks: readonly Check[] }).checks;
}

it("warns that gates in a worktree run with the user's own rights", async () => {
  const checks = await diagnose("worktree");
  expect(checks.find(({ name }) => name === "verify")).toMatchObject({
    status: "warn",
    message: "verify commands run with your rights",
  });
});

it("says of catalytic isolation what the guards that were tried allow", async () => {
  const checks = await diagnose("catalytic");
  const guards = checks.find(({ name }) => name === "guards")!;
  const confined = /^(?:[a-z-]+, )*ns-[a-z]+[a-z, -]* tested and working/.test(guards.message);
  expect(checks.find(({ name }) => name === "verify")?.status).toBe(confined ? "ok" : "fail");
});

it.each([
  [null, "landlock (ABI unknown) cannot deny chmod, chown, times, xattr, truncate"],
  [2, "landlock (ABI 2) cannot deny chmod, chown, times, xattr, truncate"],
  [3, "landlock (ABI 3) cannot deny chmod, chown, times, xattr"],
  [7, "landlock (ABI 7) cannot deny chmod, chown, times, xattr"],
])("names truncate among what landlock of version %s cannot deny exactly below 3", (abi, sentence) => {
  expect(describeLandlock(abi)).toBe(sentence);
});

it("says what landlock cannot deny where landlock works", async () => {
  const { message } = (await diagnose("auto")).find(({ name }) => name === "guards")!;
  const works = / tested and working/.test(message) && message.split(" tested")[0]!.includes("landlock");
  expect(message.includes(`; ${describeLandlock(landlockAbi())}`)).toBe(works);
});

it.each([
  ["linux", []],
  ["darwin", ["what confines agents on macOS (seatbelt) was written without such a machine and never tried on one"]],
  ["win32", ["agents do not run on Windows itself (AGENT_NEEDS_WSL)"]],
] as const)("says what of agents nobody tried, or is not there, on %s", async (platform, expected) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-doctor-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const alone = composeAlone({ surface: "cli", start: base, env: { HOME: base }, platform: process.platform });
  onTestFinished(() => alone.close());
  const noGuard = { probe: async () => ({}), landlockAbi: () => null };
  const ports = await wiring.ports(alone, "read", "hall.doctor");
  const checks = await diagnosePorts({ ...ports, platform, openGuards: () => noGuard as never });
  expect(checks.filter(({ name }) => name === "agents").map(({ message }) => message)).toEqual(expected);
});

it("tells a terminal what to type, and nobody else", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-doctor-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const ask = async (surface: "cli" | "http") => {
    const alone = composeAlone({ surface, start: base, env: { HOME: base }, platform: process.platform });
    onTestFinished(() => alone.close());
    const noGuard = { probe: async () => ({}), landlockAbi: () => null };
    return diagnosePorts({ ...(await wiring.ports(alone, "read", "hall.doctor")), openGuards: () => noGuard as never });
  };
  const typed = (checks: readonly Check[]) =>
    checks.filter((check) => /verbatim |--|chmod/.test(JSON.stringify(check)));
  expect(typed(await ask("cli")).map(({ name }) => name)).toEqual(["workspace", "guards"]);
  const overHttp = await ask("http");
  expect(typed(overHttp)).toEqual([]);
  expect(overHttp.find(({ name }) => name === "workspace")?.message).toBe(`${base} (not set up yet)`);
});

it("warns of a repository in which no agent could work, and says why", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-doctor-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  execFileSync("git", ["init", "-q", base]);
  const alone = composeAlone({ surface: "cli", start: base, env: { HOME: base }, platform: process.platform });
  onTestFinished(() => alone.close());
  const rows = (await diagnosePorts(await wiring.ports(alone, "read", "hall.doctor"))).filter(
    ({ name }) => name === "repository",
  );
  expect(rows).toEqual([
    {
      name: "repository",
      status: "warn",
      message: `REPO_NOT_GIT: the repository has no commit yet (${base})`,
      fix: "Run git init and commit something, or use -C DIR.",
    },
  ]);
});

it("says whether files of code have sections of their own", async () => {
  expect((await diagnose("auto")).find(({ name }) => name === "outline")).toMatchObject({
    status: "ok",
    message: "sections of code are made with @vscode/tree-sitter-wasm 0.3.1",
  });
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-doctor-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const alone = composeAlone({ surface: "library", start: base, env: { HOME: base }, platform: process.platform });
  const ports = await wiring.ports(alone, "read", "hall.doctor");
  const checks = await diagnosePorts({ ...ports, missingGrammars: () => "not installed" });
  await alone.close();
  expect(checks.find(({ name }) => name === "outline")).toMatchObject({
    status: "warn",
    message: "files of code are one section each: @vscode/tree-sitter-wasm 0.3.1 cannot be used (not installed)",
  });
});
