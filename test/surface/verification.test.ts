import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../../src/app/compose/catalytic-ports.ts";
import type { Composition } from "../../src/app/compose/compose.ts";
import { createCommandFacts, createVerifyPorts } from "../../src/app/compose/verification/verification.ts";
import type { PlaceRequest } from "../../src/app/compose/verification/verification-places.ts";
import { acquireLocks, releaseLocks } from "../../src/rooms/catalytic/run/lock-files.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { splitWords } from "../../src/rooms/workflow/dispatch/argv-template.ts";
import type { ViewWrite } from "../../src/rooms/workflow/ports.ts";
import { describeBase } from "../../src/rooms/workflow/verification/describe-base.ts";
import { findVerifyCommands } from "../../src/rooms/workflow/verification/found-commands.ts";
import { VERIFICATION } from "../../src/rooms/workflow/verification/report.ts";
import { type VerifyCandidate, verifyCandidate } from "../../src/rooms/workflow/verification/verify-candidate.ts";
import { parseVerifyCommand } from "../../src/rooms/workflow/verification/verify-command.ts";
import { recordWithTools } from "../support/agent-repo.ts";
import {
  type Base,
  choosePlace,
  MENDED,
  makeNodeRepo,
  type NodeRepo,
  needGuard,
  openComposition,
  takeBase,
  toCandidate,
} from "../support/verification-repo.ts";

let repo: NodeRepo;
let composition: Composition;
let base: Base;

beforeEach(async ({ skip }) => {
  repo = makeNodeRepo();
  composition = openComposition(repo);
  base = await takeBase(repo);
  // Without an overlay candidates are verified on a copy; that has tests of its own.
  await needGuard(composition, "ns-overlay", skip);
});

afterEach(async () => {
  await composition.close();
  await runDisk.discard(repo.base);
});

const toCommand = (text: string) => ({ argv: splitWords(text), cmd: text });

/** No registry is asked: there is none. */
const OFFLINE = { npm_config_offline: "true", npm_config_audit: "false", npm_config_update_notifier: "false" };

async function verify(
  writes: readonly ViewWrite[],
  commands: readonly string[],
  more: Partial<VerifyCandidate> = {},
  wanted: Partial<PlaceRequest> = {},
  signal = new AbortController().signal,
) {
  const before = recordWithTools(repo.root);
  const ports = await createVerifyPorts(composition, await choosePlace(composition, repo, base, wanted));
  const request = {
    v: 1,
    candidate: "c".repeat(64),
    base: { tree: base.tree, objects: base.objects, head: base.commit },
    writes,
    commands: commands.map(toCommand),
    setup: "detect",
    timeout_s: 120,
    baseline: true,
    ignored_at_start: null,
    env: { PATH: process.env["PATH"] ?? "", HOME: repo.base, ...OFFLINE },
    run_id: "run-1",
    network: "inherit",
    caps: null,
    ...more,
  } as const satisfies VerifyCandidate;
  const verified = await verifyCandidate(ports, request, signal);
  expect(recordWithTools(repo.root)).toBe(before);
  expect(VERIFICATION.check(JSON.parse(JSON.stringify(verified.report)))).toEqual([]);
  const { result, code, reason } = verified.report;
  return {
    ...verified,
    judged: [result, code, reason],
    words: describeBase(verified.report.base, verified.report.lacks),
  };
}

describe("a Node project with its dependencies installed", () => {
  it("is verified by npm test without any configuration, and the report says on what", async () => {
    const [found] = findVerifyCommands(createCommandFacts(composition));
    const { argv } = parseVerifyCommand(found!.command, createCommandFacts(composition));
    expect(argv).toEqual(["npm", "test"]);
    const { report, judged, words, stdout } = await verify(await toCandidate(composition, { "src/date.js": MENDED }), [
      "npm test",
    ]);
    expect(judged).toEqual(["PASS", null, null]);
    expect(words).toBe("on your tree with its ignored files (.cache, node_modules)");
    expect(report).toMatchObject({
      schema_version: "verbatim-verification-v1",
      base: { kind: "view", tree: base.tree, head: base.commit, ignored: { changed_since: [] } },
      setup: [],
      commands: [{ cmd: "npm test", exit_code: 0, reason: null, tail: [] }],
      baseline: [],
      notices: [],
    });
    expect(Buffer.from(stdout).toString()).toMatch(/^\$ npm test\n(?:.*\n)*ok\n$/);
  });

  it("fails for an agent that doctored node_modules instead, on the base as well", async () => {
    const doctor = `echo 'module.exports = () => "07";' > node_modules/leftish/index.js; node test.js; echo done > note.txt`;
    const view = await runInView(createCatalyticPorts(composition), {
      ...toCatalyticPlaces(composition),
      command: ["sh", "-c", doctor],
      intent: "Cheat",
    });
    expect([view.run.exit_code, [...view.changes.added.keys()], view.changes.ignored]).toEqual([0, ["note.txt"], 1]);
    const candidate = await toCandidate(composition, { "note.txt": "done\n" });
    // A home without secrets.
    vi.stubEnv("HOME", repo.base);
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const name of [".env", "key.pem"]) writeFileSync(join(repo.root, name), "LAMP_KEY=tr0ub4dor-and-more\n");
    const hiding = { masks: { unmask: [], all: false, profile: null, kept: [], seen: [] } };
    const first = await verify(candidate, ["node test.js"], { ignored_at_start: view.ignored }, hiding);
    const reason = "node test.js ended with exit code 1; it fails without the agent's change too";
    expect(first.judged).toEqual(["FAIL", "VERIFY_FAILED", reason]);
    expect(first.report.commands).toMatchObject([{ exit_code: 1, tail: ['expected "07", got "7"'] }]);
    expect(first.report.baseline).toMatchObject([{ cmd: "node test.js", exit_code: 1, kept: false }]);
    expect(first.report.notices).toEqual([
      "2 secret files are hidden from it; show one: --unmask .env (code of the agent can then read it)",
    ]);
    const again = await verify(candidate, ["node test.js"], {}, hiding);
    expect(again.judged).toEqual(first.judged);
    expect(again.report.baseline).toMatchObject([{ exit_code: 1, kept: true }]);
  });

  it("names what failed and that the base passes; what came before it runs there too", async () => {
    const broken = await toCandidate(composition, { "src/date.js": "syntax error\n" });
    const second = `node -e "require('fs').statSync('made.txt'); require('./src/date.js')"`;
    const { judged, report } = await verify(broken, ["touch made.txt", second, "false"]);
    expect(judged).toEqual(["FAIL", "VERIFY_FAILED", `${second} ended with exit code 1`]);
    expect(report.commands).toHaveLength(2);
    expect(report.baseline).toMatchObject([{ exit_code: 0, kept: false }]);
  });

  it.each([
    ["./nowhere.sh", 30, "./nowhere.sh did not start: no such program"],
    ["./plain", 30, "./plain did not start: the file may not be executed"],
    ["sleep 60", 1, "sleep 60 took longer than 1 s"],
  ])("has a reason when %s does not end by itself", async (command, timeout_s, reason) => {
    const { judged } = await verify([], [command], { timeout_s, baseline: false });
    expect(judged).toEqual(["FAIL", "VERIFY_FAILED", reason]);
  });

  it("is not verified by nothing", async () => {
    const { judged } = await verify([], []);
    expect(judged).toEqual(["NONE", null, "not verified: there was no command to run"]);
  });

  it("lists the ignored files that changed since the agent began", async () => {
    const first = await verify([], ["true"]);
    const places = toCatalyticPlaces(composition);
    const start = await runInView(createCatalyticPorts(composition), { ...places, command: ["true"], intent: "Begin" });
    repo.write("node_modules/leftish/index.js", "module.exports = () => '';\n");
    repo.write("new.log", "written by a server\n");
    const { report } = await verify([], ["true"], { ignored_at_start: start.ignored });
    expect(first.report.base.ignored).toEqual({ folders: [".cache", "node_modules"], changed_since: [] });
    expect(report.base.ignored.changed_since).toEqual(["new.log", "node_modules"]);
    expect(report.notices).toEqual([
      "new.log changed since the agent began",
      "node_modules changed since the agent began",
    ]);
  });

  it("is not judged when somebody interrupts", async () => {
    const stop = new AbortController();
    const running = verify([], ["sleep 60"], {}, {}, stop.signal);
    setTimeout(() => stop.abort(), 500);
    await expect(running).rejects.toMatchObject({ code: "INTERRUPTED" });
  });
});

/** A dependency in a folder of the repository, as npm writes it down. */
function withLocalPackage(names: readonly string[]): Record<string, string> {
  const dependencies = Object.fromEntries(names.map((name) => [name, `file:vendor/${name}`]));
  const packages: Record<string, object> = { "": { name: "harbour", dependencies } };
  const files: Record<string, string> = {};
  for (const name of names) {
    packages[`node_modules/${name}`] = { resolved: `vendor/${name}`, link: true };
    packages[`vendor/${name}`] = { version: "1.0.0" };
    files[`vendor/${name}/package.json`] = JSON.stringify({ name, version: "1.0.0" });
    files[`vendor/${name}/index.js`] = 'module.exports = (text, n) => text.padStart(n, "0");\n';
  }
  const lock = { name: "harbour", lockfileVersion: 3, requires: true, packages };
  return {
    ...files,
    "package.json": JSON.stringify({ name: "harbour", dependencies }),
    "package-lock.json": JSON.stringify(lock),
  };
}

describe("set-up", () => {
  it("installs what a changed lock file asks for, and nothing of it stays", async () => {
    const candidate = await toCandidate(composition, {
      ...withLocalPackage(["leftish", "other"]),
      "src/date.js": MENDED,
    });
    const { judged, report } = await verify(candidate, ["node test.js", `node -e "require('other')"`]);
    expect(judged).toEqual(["PASS", null, null]);
    expect(report.setup).toMatchObject([{ cmd: "npm ci", why: "package-lock.json changed", exit_code: 0, hosts: [] }]);
    expect(readFileSync(join(repo.root, "node_modules/leftish/package.json"), "utf8")).toContain("1.0.0");
  });

  it("that fails ends the verification before any command: SETUP_FAILED", async () => {
    const { judged, report } = await verify([], ["node test.js"], { setup: [toCommand("sh -c 'exit 3'")] });
    expect(judged).toEqual(["FAIL", "SETUP_FAILED", "the set-up failed: sh -c 'exit 3' ended with exit code 3"]);
    expect(report).toMatchObject({ setup: [{ why: "asked for", exit_code: 3 }], commands: [], baseline: [] });
  });

  it("fills the node_modules that a checkout lacks, or the report says how to", async () => {
    for (const [path, text] of Object.entries(withLocalPackage(["leftish"]))) repo.write(path, text);
    repo.git("add", ".");
    repo.git("commit", "-qm", "lock");
    base = await takeBase(repo);
    const candidate = await toCandidate(composition, { "src/date.js": MENDED });
    const checkout = { base: "checkout" } as const;
    const filled = await verify(candidate, ["node test.js"], {}, checkout);
    expect([filled.judged, filled.report.setup[0]?.why]).toEqual([["PASS", null, null], "node_modules is missing"]);
    expect(filled.words).toBe("on a clean checkout without ignored files");
    const bare = await verify(candidate, ["node test.js"], { setup: "none", baseline: false }, checkout);
    expect(bare.judged[0]).toBe("FAIL");
    expect(bare.words).toBe(
      'on a clean checkout without ignored files (node_modules is missing there; --setup "npm ci")',
    );
  });
});

describe("the base of a verification", () => {
  it("is a copy where there is no overlay, with the same result", async () => {
    const candidate = await toCandidate(composition, { "src/date.js": MENDED });
    const { judged, words } = await verify(candidate, ["node test.js"], {}, { guard: "ns-bind" });
    expect(judged).toEqual(["PASS", null, null]);
    expect(words).toBe("on a copy of your tree with its ignored files (.cache, node_modules)");
  });

  it("is a checkout where the copy would be too large, unless a copy was asked for: GUARD_UNAVAILABLE", async () => {
    const small = { copy_max: 100 };
    const place = await choosePlace(composition, repo, base, { ...small, guard: "ns-bind" });
    expect(place.kind).toBe("checkout");
    await expect(choosePlace(composition, repo, base, { ...small, base: "copy" })).rejects.toMatchObject({
      code: "GUARD_UNAVAILABLE",
      message: "agent.verify.base is copy: the tree is larger than agent.verify.copy_max (100 bytes)",
    });
    const fits = await choosePlace(composition, repo, base, { base: "copy" });
    expect(fits.kind).toBe("copy");
  });

  it("is not read again from a baseline that somebody broke", async () => {
    const folder = join(repo.root, ".verbatim/state/agent/baselines");
    const first = await verify([], ["false"]);
    mkdirSync(folder, { recursive: true });
    for (const name of runDisk.list(folder) ?? []) writeFileSync(join(folder, name), "{");
    const second = await verify([], ["false"]);
    expect([first.report.baseline[0]?.kept, second.report.baseline[0]?.kept]).toEqual([false, false]);
  });
});

describe("a landing, which has the tree alone,", () => {
  it("verifies under its own lock; without saying so it is kept out", async () => {
    const ports = createCatalyticPorts(composition);
    const { root, state } = toCatalyticPlaces(composition);
    await acquireLocks(ports, state, { run_id: "landing-1", root, paths: ["."], shared: false });
    try {
      expect((await verify([], ["true"], { locked: true })).judged[0]).toBe("PASS");
      await expect(verify([], ["true"])).rejects.toMatchObject({ code: "DOMAIN_BUSY" });
    } finally {
      releaseLocks(ports, state, "landing-1");
    }
  });
});
