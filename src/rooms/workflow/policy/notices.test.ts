import { describe, expect, it } from "vitest";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { CandidateFile } from "../contracts/candidate.ts";
import { listNotices, type NoticeRequest } from "./notices.ts";

const file = (path: string) => ({ path }) as unknown as CandidateFile;
const json = (value: unknown) => encodeUtf8(JSON.stringify(value));

function notices(paths: readonly string[], more: Partial<NoticeRequest> = {}): string[] {
  const request = { files: paths.map(file), manifests: new Map(), commands: [], hasFile: () => false, ...more };
  return listNotices(request).map(({ path, rule }) => `${path} ${rule}`);
}

describe("notices", () => {
  it.each([
    ["AGENTS.md", true],
    ["sub/CLAUDE.md", true],
    ["gemini.md", true],
    [".cursorrules", true],
    [".github/copilot-instructions.md", true],
    ["AGENTS.txt", false],
    ["docs/copilot-instructions.md", false],
  ])("%s tells later agents what to do: %s", (path, expected) => {
    expect(notices([path])).toEqual(expected ? [`${path} tells_agents`] : []);
  });

  it.each([
    ["Makefile", true],
    ["sub/conftest.py", true],
    ["tox.ini", true],
    ["vitest.config.ts", true],
    ["jest.config.cjs", true],
    [".mocharc.json", true],
    ["test/a.test.ts", false],
    ["Makefile.md", false],
    ["config.ts", false],
  ])("%s decides how the change is verified: %s", (path, expected) => {
    expect(notices([path])).toEqual(expected ? [`${path} decides_verification`] : []);
  });

  it("notice what a command names", () => {
    const commands = [
      ["node", "./check.mjs"],
      ["x", "--config=tools/x.json", "src"],
    ];
    expect(notices(["check.mjs", "src/a.ts", "tools/x.json"], { commands })).toEqual([
      "check.mjs decides_verification",
      "tools/x.json decides_verification",
    ]);
  });

  const manifest = (before: unknown, after: unknown) => ({
    manifests: new Map([
      ["package.json", { before: before === null ? null : json(before), after: after === null ? null : json(after) }],
    ]),
  });

  it.each([
    ["a changed test script", { scripts: { test: "a" } }, { scripts: { test: "b" } }, ["decides_verification"]],
    ["a new install script", {}, { scripts: { postinstall: "x" } }, ["runs_on_install", "decides_verification"]],
    ["an install script that goes", { scripts: { install: "x" } }, { scripts: {} }, ["decides_verification"]],
    ["an install script that stays", { scripts: { prepare: "x" } }, { scripts: { prepare: "x" }, name: "y" }, []],
    ["a new version", { version: "1" }, { version: "2" }, []],
    ["a new file with scripts", null, { scripts: { prepare: "x" } }, ["runs_on_install", "decides_verification"]],
  ])("package.json with %s", (_, before, after, expected) => {
    expect(notices(["package.json"], manifest(before, after))).toEqual(expected.map((rule) => `package.json ${rule}`));
  });

  it("notice a package.json whose lock file was left behind", () => {
    const change = manifest({ dependencies: {} }, { dependencies: { leftish: "1.0.0" } });
    const hasFile = (path: string) => path === "package-lock.json";
    expect(notices(["package.json"], { ...change, hasFile })).toEqual(["package.json lock_unchanged"]);
    expect(notices(["package.json", "package-lock.json"], { ...change, hasFile })).toEqual([]);
    expect(notices(["package.json"], change)).toEqual([]);
    const inside = new Map([["packages/a/package.json", change.manifests.get("package.json")!]]);
    expect(notices(["packages/a/package.json"], { manifests: inside, hasFile })).toEqual([
      "packages/a/package.json lock_unchanged",
    ]);
  });

  it("read a package.json that is not JSON as one without members", () => {
    const manifests = new Map([["package.json", { before: encodeUtf8("{"), after: json({ scripts: { test: "x" } }) }]]);
    expect(notices(["package.json"], { manifests })).toEqual(["package.json decides_verification"]);
  });
});
