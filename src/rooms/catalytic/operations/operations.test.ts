// The operations of the room as a caller has them, on one repository: runs, records, skills, the doctor.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeCatalyticRepo, openCatalytic, recordTree, type TestRun } from "../../../../test/support/catalytic-repo.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toSigningKey } from "../../../core/trust/key.ts";
import { CATALYTIC_OPERATIONS } from "./index.ts";
import type { RoomPorts } from "./ports.ts";

const D = ".verbatim/scratch/d";
const OUT = ".verbatim/out";
let base: string;
let root: string;
let room: TestRun;
let key: Awaited<ReturnType<typeof toSigningKey>>;
const notes: string[] = [];
const records: { readonly stream: string; readonly record: unknown }[] = [];
let probes: object = {};
let config: object = {};
let change: Partial<RoomPorts> = {};
let released = 0;

beforeAll(async () => {
  ({ base, root } = makeCatalyticRepo());
  key = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(7));
  room = openCatalytic(base, root);
});
afterAll(async () => {
  await room.close();
  await runDisk.discard(base);
});
afterEach(() => {
  notes.splice(0);
  records.splice(0);
  [probes, config, change] = [{}, {}, {}];
});

function ports(): RoomPorts {
  const { guards } = room.ports;
  return {
    ...room.ports,
    guards: {
      probe: async () => probes,
      landlockAbi: () => 3,
      launch: async (request: never) => {
        const running = await guards.launch(request);
        return { ...running, release: () => (released++, running.release()) };
      },
      endMarked: guards.endMarked.bind(guards),
    },
    records: {
      appendRun: async (entries: object) => void records.push({ stream: "run", record: entries }),
      append: async (stream: string, record: unknown) => void records.push({ stream, record }),
    },
    notify: (text: string) => void notes.push(text),
    signingKey: async () => key,
    publicKey: async () => key.public_key,
    folder: root,
    files: {
      read: async (path: string) => {
        const place = join(root, path);
        if (!existsSync(place)) throw new VerbatimError("FILE_NOT_FOUND", { where: path });
        return readFileSync(place);
      },
    },
    places: () => ({ ...room.places, config }),
    ...change,
  } as unknown as RoomPorts;
}

/** The answer of an operation, checked by its own schema; or what it throws. */
async function ask(name: string, input: object): Promise<Record<string, unknown>> {
  const operation = CATALYTIC_OPERATIONS.find((one) => one.name === `catalytic.${name}`)!;
  const output: unknown = await operation.run(ports(), operation.input.parse(input) as never);
  return operation.output.parse(output) as Record<string, unknown>;
}
const refused = (name: string, input: object) => ask(name, input).catch((thrown: unknown) => thrown);
const run = (run_id: string, script: string, more: object = {}) =>
  ask("run", { run_id, command: ["sh", "-c", script], domain: [D], guard: "audit", ...more });

describe("a run", () => {
  it("that is only checked is declared, and nothing is written down of it", async () => {
    expect(await run("checked", `echo x > ${OUT}/ran`, { check: true })).toMatchObject({
      run_id: "checked",
      run_dir: "",
      status: "declared",
      accepted: false,
      condition: null,
      exit_code: null,
      guard: null,
      duration_ms: 0,
      memo_hit: false,
      compared: 0,
      inside: { added: 0, changed: 0, removed: 0 },
      refused: { lines: 0, shown: [] },
    });
    expect(await refused("run", { check: true, command: ["true"], domain: [".git/x"] })).toMatchObject({
      code: "PREFLIGHT_REJECTED",
    });
    expect([records, existsSync(join(root, OUT, "ran")), existsSync(join(root, ".verbatim/runs"))]).toEqual([
      [],
      false,
      false,
    ]);
  });

  it("is signed when that was asked for, with the configured key and with nothing else", async () => {
    expect(await refused("run", { command: ["true"], domain: [D], sign: true })).toMatchObject({
      code: "USAGE",
      message: "no signing key is configured",
    });
    config = { signing: { key_file: "key.json" } };
    expect(await run("signed", "true", { sign: true })).toMatchObject({ status: "succeeded", accepted: true });
    await run("unsigned", "true");
    const signature = async (id: string, more: object = {}) => {
      const { signature: found, accepted, errors } = await ask("verify", { run: id, tree: "none", ...more });
      return [(found as { state: string }).state, accepted, (errors as { code: string }[]).map(({ code }) => code)];
    };
    expect(await signature("signed")).toEqual(["unpinned", true, []]);
    expect(await signature("signed", { pin: ["name"] })).toEqual(["pinned", true, []]);
    expect(await signature("signed", { pin: ["0".repeat(64)] })).toEqual(["untrusted", false, ["SIGNATURE_UNTRUSTED"]]);
    expect(await signature("unsigned", { pin: ["name"] })).toEqual(["absent", false, ["SIGNATURE_MISSING"]]);
    config = { signing: { pinned_keys: ["0".repeat(64)] } };
    expect(await signature("signed")).toEqual(["untrusted", false, ["SIGNATURE_UNTRUSTED"]]);
    expect(await signature("signed", { pin: ["name"] })).toEqual(["pinned", true, []]);
    // What this workspace pins says nothing about a record of another one.
    change = { folder: base };
    const away = join(base, "away");
    mkdirSync(away);
    await runDisk.copy(join(root, ".verbatim/runs/signed"), join(away, "signed"));
    expect(await signature(join(away, "signed"))).toEqual(["unpinned", true, []]);
  });

  it("tells what it changed, what it was refused and what was found outside, in the shape of its schema", async () => {
    const done = await run("loud", `echo x > src/planted; echo 1 > ${D}/new; echo 2 > ${OUT}/x; exit 2`, {
      out: [`${OUT}/x`],
      keep_work: true,
    });
    expect(done).toMatchObject({
      status: "failed",
      accepted: false,
      condition: "GUARD_VIOLATION",
      exit_code: 2,
      outputs: [],
      quarantined: [`${OUT}/x`],
      inside: { added: 1, changed: 0, removed: 0 },
    });
    const violations = done["violations"] as { code: string; path: string; fields: string[] }[];
    expect(violations).toContainEqual({ code: "OUTSIDE_ADDED", path: "src/planted", fields: [] });
    expect(existsSync(join(room.places.state, "catalytic/loud"))).toBe(true);
    rmSync(join(root, "src/planted"));
  });
});

describe("a record", () => {
  it("is verified against the tree of today, or not, as it is asked", async () => {
    await run("kept", `echo 1 > ${OUT}/kept`, { out: [`${OUT}/kept`] });
    const tree = async (how: string) => (await ask("verify", { run: "kept", tree: how }))["tree"];
    expect([await tree("auto"), await tree("none"), await tree("strict")]).toEqual(["matches", "skipped", "matches"]);
    const a = readFileSync(join(root, D, "a.txt"));
    writeFileSync(join(root, D, "a.txt"), "changed since\n");
    expect(await ask("verify", { run: "kept" })).toMatchObject({ accepted: true, tree: "drifted" });
    expect(await ask("verify", { run: "kept", tree: "strict" })).toMatchObject({ accepted: false, tree: "drifted" });
    writeFileSync(join(root, D, "a.txt"), a);
    writeFileSync(join(root, OUT, "kept"), "2\n");
    expect(await ask("verify", { run: "kept" })).toMatchObject({ accepted: false, tree: "drifted" });
    expect(await ask("verify", { run: "kept", tree: "none" })).toMatchObject({ accepted: true, tree: "skipped" });
    const policy = ".verbatim/runs/kept/POLICY.json";
    expect(await ask("verify", { run: "kept", tree: "none", policy })).toMatchObject({ accepted: true });
    writeFileSync(join(root, "other.json"), "{}\n");
    expect(await ask("verify", { run: "kept", tree: "none", policy: "other.json" })).toMatchObject({ accepted: false });
    rmSync(join(root, "other.json"));
  });

  it("is shown, and each of its files by its bytes", async () => {
    const shown = await ask("show", { run: "kept" });
    expect(shown).toMatchObject({ run_id: "kept", status: { status: "succeeded" }, quarantined: [] });
    expect([shown["outputs"], Object.hasOwn(shown, "artifact_base64")]).toEqual([
      [expect.objectContaining({ path: `${OUT}/kept` })],
      false,
    ]);
    const bytes = readFileSync(join(root, ".verbatim/runs/kept/STATUS.json"));
    expect((await ask("show", { run: "kept", artifact: "STATUS.json" }))["artifact_base64"]).toBe(
      bytes.toString("base64"),
    );
    expect(await refused("show", { run: "kept", artifact: "NOTHING.json" })).toMatchObject({
      code: "ARTIFACT_UNKNOWN",
      where: "NOTHING.json",
    });
    expect(await refused("show", { run: "kept", artifact: "../kept/STATUS.json" })).toMatchObject({
      code: "ARTIFACT_UNKNOWN",
    });
    expect(await refused("show", { run: "nobody" })).toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  it("is listed with others, by status and as many as are wanted", async () => {
    const ids = async (more: object = {}) =>
      ((await ask("list", more))["runs"] as { run_id: string }[]).map(({ run_id }) => run_id).sort();
    expect(await ids()).toEqual(["kept", "loud", "signed", "unsigned"]);
    expect([await ids({ status: "failed" }), (await ids({ limit: 2 })).length]).toEqual([["loud"], 2]);
  });
});

describe("the command of a skill", () => {
  beforeAll(() => mkdirSync(join(root, "skill")));
  const declare = (mode: string) => writeFileSync(join(root, "skill/SKILL.md"), `---\n${mode}: true\n---\n`);
  const skill = (script: string, more: object = {}) =>
    ask("run", { run_id: "skill-1", skill: "skill/", command: ["sh", "-c", script], guard: "audit", ...more });
  const tree = () => recordTree(root, (path) => path === ".verbatim/state");

  it("that is a writer writes where it likes, is told on, and is written down without a proof", async () => {
    declare("writer");
    released = 0;
    const done = await skill("echo 1 > src/written", { guard: "require" });
    expect([released, Number(done["duration_ms"]) < 600_000]).toEqual([1, true]);
    expect(done).toMatchObject({
      run_id: "skill-1",
      run_dir: "",
      status: "succeeded",
      accepted: false,
      condition: null,
      exit_code: 0,
      guard: "audit",
      proof_hash: null,
      memo_hit: false,
      compared: 0,
      message: "the skill may have written anything; nothing is proved",
    });
    expect(notes).toEqual(["SKILL_WRITER: the skill skill/ writes without a guard"]);
    const manifest_sha256 = nodeCrypto.sha256(readFileSync(join(root, "skill/SKILL.md")));
    expect(records).toMatchObject([
      {
        record: {
          kind: "SKILL_RUN",
          body: { skill: "skill/", mode: "writer", manifest_sha256, exit_code: 0, violations: [] },
        },
      },
    ]);
    rmSync(join(root, "src/written"));
    expect(runDisk.list(join(room.places.state, "catalytic"))!.filter((name) => name.startsWith("_skill"))).toEqual([]);
    expect(await refused("run", { skill: "skill", command: ["true"], network: "none" })).toMatchObject({
      code: "NETWORK_NOT_ENFORCEABLE",
    });
    config = { writer_skills: "deny" };
    expect(await refused("run", { skill: "skill", command: ["true"] })).toMatchObject({ code: "SKILL_REFUSED" });
  });

  it("that is read-only may read, and is refused by what it changed", async () => {
    declare("read_only");
    const before = tree();
    expect(await skill("cat src/app.txt", { env: ["A=1"] })).toMatchObject({
      status: "succeeded",
      accepted: false,
      message: "nothing in the repository was changed",
    });
    expect(notes).toEqual([expect.stringContaining("BLOCKS NOTHING")]);
    await expect(skill("echo 1 > src/app.txt; echo 2 > src/written")).rejects.toMatchObject({
      code: "SKILL_READ_ONLY_VIOLATED",
      where: "src/app.txt",
      message: expect.stringContaining("src/app.txt, src/written"),
      details: { violations: expect.arrayContaining([expect.objectContaining({ path: "src/written" })]) },
    });
    expect(records.at(-1)).toMatchObject({
      record: { body: { mode: "read_only", violations: expect.arrayContaining([expect.anything()]) } },
    });
    rmSync(join(root, "src/written"));
    writeFileSync(join(root, "src/app.txt"), "app\n");
    expect(Object.keys(tree())).toEqual(Object.keys(before));
    for (const more of [{ domain: [D] }, { out: [`${OUT}/x`] }]) {
      expect(await refused("run", { skill: "skill", command: ["true"], ...more })).toMatchObject({
        code: "SKILL_REFUSED",
        details: { errors: ["SKILL_READ_ONLY_HAS_DOMAINS"] },
      });
    }
  });

  it("says how it ended", async () => {
    declare("writer");
    expect(await skill("exit 3")).toMatchObject({
      status: "failed",
      condition: "COMMAND_FAILED",
      exit_code: 3,
      interrupted_by: null,
      message: "COMMAND_FAILED, exit 3. the skill may have written anything; nothing is proved",
    });
    expect(await skill("exit 3", { expect_exit: "0,3" })).toMatchObject({ status: "succeeded", exit_code: 3 });
    let stopped = 0;
    change = {
      interrupts: {
        listen: (onSignal) => {
          onSignal("SIGTERM");
          onSignal("SIGINT");
          return () => void stopped++;
        },
      },
    };
    expect(await skill("while :; do sleep 0.05; done")).toMatchObject({
      condition: "INTERRUPTED",
      interrupted_by: "SIGTERM",
    });
    expect(stopped).toBe(1);
  });

  it("that is catalytic is a run like every other, which names its skill", async () => {
    declare("catalytic");
    expect(await skill("true", { domain: [D] })).toMatchObject({ status: "succeeded", accepted: true });
    const spec = JSON.parse(readFileSync(join(root, ".verbatim/runs/skill-1/JOBSPEC.json"), "utf8")) as object;
    const manifest_sha256 = nodeCrypto.sha256(readFileSync(join(root, "skill/SKILL.md")));
    expect(spec).toMatchObject({ skill: { path: "skill/", declaration: "catalytic", manifest_sha256 } });
    expect(await refused("run", { skill: "skill", command: ["true"] })).toMatchObject({ code: "SKILL_REFUSED" });
  });

  it("is judged by its manifest alone, without running anything", async () => {
    for (const [mode, ok, warnings] of [
      ["read_only", true, []],
      ["catalytic", true, []],
      ["writer", true, ["SKILL_WRITER"]],
    ] as const) {
      declare(mode);
      expect(await ask("check-skill", { dir: "skill" })).toMatchObject({ ok, mode, errors: [], warnings });
    }
    declare("nothing");
    expect(await ask("check-skill", { dir: "skill" })).toMatchObject({
      ok: false,
      mode: null,
      errors: ["SKILL_DECLARATION_MISSING"],
    });
    expect(await ask("check-skill", { dir: "elsewhere" })).toMatchObject({
      ok: false,
      errors: ["SKILL_MANIFEST_MISSING"],
      manifest_sha256: null,
    });
    writeFileSync(join(root, "skill/SKILL.md"), Uint8Array.of(0xff));
    expect(await ask("check-skill", { dir: "skill" })).toMatchObject({ errors: ["SKILL_MANIFEST_UNREADABLE"] });
    const broken = new VerbatimError("FILE_TOO_LARGE", {});
    change = { files: { read: () => Promise.reject(broken) } as never };
    expect(await refused("check-skill", { dir: "skill" })).toBe(broken);
  });
});

it("what is not asked for is not done: nothing is forced, accepted or tried again", () => {
  const recover = CATALYTIC_OPERATIONS.find(({ name }) => name === "catalytic.recover")!;
  const none = { dry_run: false, force: false, retry: false, accept_current: false };
  expect(recover.input.parse({})).toEqual(none);
});

it("the doctor tells what works here, in the shape of its schema", async () => {
  probes = { landlock: "ok" };
  expect(await ask("doctor", {})).toMatchObject({ chosen: "landlock", network_none: false, locks: [] });
});
