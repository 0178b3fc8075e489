// A request is judged before anything is made: what it may not ask for, and what it is given when it may run.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeCatalyticRepo, openCatalytic, type TestRun, toJobSpec } from "../../../../test/support/catalytic-repo.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { runDisk } from "../../../adapters/disk/runs/run-disk.ts";
import type { JsonValue } from "../../../core/canonical/index.ts";
import type { CatalyticPorts } from "../ports.ts";
import { commandEnv, declareGuard, declareRun, effectiveEnv, hashEnv, type RunRequest, readPolicy } from "./declare.ts";

let base: string;
let root: string;
let room: TestRun;
let ports: CatalyticPorts;
let told: unknown[];

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
  told = [];
  const records = { append: async (...entry: unknown[]) => void told.push(entry) };
  room = openCatalytic(base, root, (real) => ({ ...real, records: records as never }));
  ports = room.ports;
});
afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

const declare = (more: object, options: Partial<RunRequest> = {}) =>
  declareRun(ports, { ...room.places, ...options, jobspec: toJobSpec(["sh"], more) as JsonValue });
const refusal = async (more: object, options: Partial<RunRequest> = {}) => {
  const thrown = (await declare(more, options).catch((one: unknown) => one)) as {
    code: string;
    details?: { errors: { code: string; pointer: string }[] };
  };
  return [
    thrown.code,
    ...(thrown.details?.errors ?? []).map((one) => (typeof one === "string" ? one : `${one.code} ${one.pointer}`)),
  ];
};
const skill = (text: string) => {
  mkdirSync(join(root, "skills/s"), { recursive: true });
  writeFileSync(join(root, "skills/s/SKILL.md"), text);
};

describe("a request that may run", () => {
  it("comes back normalised, with policy, program and the runs that were there", async () => {
    mkdirSync(join(root, ".verbatim/runs/old"), { recursive: true });
    writeFileSync(join(root, ".verbatim/runs/old/STATUS.json"), "{}\n");
    const declared = await declare({
      catalytic_domains: ["./.verbatim/scratch/d/"],
      outputs: { durable_paths: [".verbatim/out/./a"] },
    });
    expect(declared).toMatchObject({
      policy: { profile: "standard" },
      jobspec: { catalytic_domains: [".verbatim/scratch/d"], outputs: { durable_paths: [".verbatim/out/a"] } },
      executable: expect.stringMatching(/\/sh$/),
      runs: [".verbatim/runs/old"],
      settings: { tripwire: { on_hit: "fail" } },
    });
    expect(told).toEqual([]);
  });

  it("may say for itself what a hit of the tripwire means", async () => {
    expect((await declare({}, { tripwire: "report" })).settings.tripwire.on_hit).toBe("report");
  });

  it("may speak for a skill that says the same", async () => {
    skill("---\ncatalytic: true\n---\n");
    const claim = { path: "skills/s", declaration: "catalytic" };
    expect((await declare({ skill: claim })).jobspec.skill).toEqual(claim);
    expect((await declare({ skill: { declaration: "catalytic" } })).jobspec.skill).toEqual({
      declaration: "catalytic",
    });
  });
});

describe("a request that may not run", () => {
  it.each<[string, object, string[]]>([
    [
      "an unlawful field",
      { run_id: "NO", colour: 1 },
      ["JOBSPEC_INVALID", "JOBSPEC_INVALID /run_id", "JOBSPEC_INVALID /colour"],
    ],
    [
      "a domain elsewhere",
      { catalytic_domains: ["src"] },
      ["PREFLIGHT_REJECTED", "CATALYTIC_OUTSIDE_ROOT /catalytic_domains/0"],
    ],
    ["an input that is not there", { inputs: ["src", "gone"] }, ["PREFLIGHT_REJECTED", "INPUT_MISSING /inputs/1"]],
    [
      "an input by its place in the list as written",
      { inputs: ["src", "src", "a-gone"] },
      ["PREFLIGHT_REJECTED", "INPUT_MISSING /inputs/2"],
    ],
    ["a folder to start in that is a file", { cwd: "src/app.txt" }, ["PREFLIGHT_REJECTED", "CWD_MISSING /cwd"]],
    [
      "a command that is not there",
      { command: ["no-such-program-here"] },
      ["PREFLIGHT_REJECTED", "COMMAND_NOT_FOUND /command/0"],
    ],
    [
      "a command that the allowed PATH does not have",
      { env: { allow: [], set: { PATH: "/nowhere" } } },
      ["PREFLIGHT_REJECTED", "COMMAND_NOT_FOUND /command/0"],
    ],
    [
      "everything at once",
      { catalytic_domains: ["src"], cwd: "gone", command: ["no-such-program-here"] },
      [
        "PREFLIGHT_REJECTED",
        "CATALYTIC_OUTSIDE_ROOT /catalytic_domains/0",
        "CWD_MISSING /cwd",
        "COMMAND_NOT_FOUND /command/0",
      ],
    ],
  ])("%s", async (_, more, expected) => {
    expect(await refusal(more)).toEqual(expected);
  });

  it("is written down, and what is not even a JobSpec is not", async () => {
    await refusal({ catalytic_domains: ["src"] });
    const errors = [{ code: "CATALYTIC_OUTSIDE_ROOT", pointer: "/catalytic_domains/0" }];
    expect(told).toEqual([
      ["catalytic/_rejected", { kind: "REJECTED", body: { run_id: "run-1", job_id: "job-1", errors } }],
    ]);
    await refusal({ run_id: "NO" });
    expect(told).toHaveLength(1);
  });

  it("has a configuration that may not be", async () => {
    expect(await refusal({}, { config: { catalytic_roots: ["."] } })).toEqual([
      "CONFIG_ROOT_FORBIDDEN",
      "CONFIG_ROOT_FORBIDDEN /catalytic/catalytic_roots/0",
    ]);
    expect(await refusal({}, { config: { catalytic_roots: ["/x"] } })).toEqual([
      "CONFIG_INVALID",
      "PATH_ABSOLUTE /catalytic/catalytic_roots/0",
    ]);
    expect(() => readPolicy([])).toThrowError(
      expect.objectContaining({ code: "CONFIG_INVALID", where: "verbatim.config.json /catalytic" }),
    );
    expect(readPolicy({}).policy.runs_root).toBe(".verbatim/runs");
  });

  it("would make the repository itself writable by an output directly in it", async () => {
    const config = { durable_roots: ["report.txt", "out"] };
    const declared = (...paths: string[]) => ({
      durable_output_roots: ["report.txt", "out"],
      outputs: { durable_paths: paths },
    });
    const forbidden = "FORBIDDEN_PATH_OVERLAP /outputs/durable_paths/1";
    expect(await refusal(declared("out/a", "report.txt"), { config })).toEqual(["PREFLIGHT_REJECTED", forbidden]);
    expect((await declare(declared("out/a", "out/b"), { config })).jobspec.outputs.durable_paths).toEqual([
      "out/a",
      "out/b",
    ]);
    // What is refused by itself is told once.
    const once = await refusal(declared("out/a", "src/report.txt"), { config });
    expect(once).toEqual(["PREFLIGHT_REJECTED", "OUTPUT_OUTSIDE_DURABLE_ROOT /outputs/durable_paths/1"]);
  });

  it("asks for an output beside the runs under a guard that writes in place", async () => {
    const shared = { durable_output_roots: ["store"], outputs: { durable_paths: ["store/new.txt"] } };
    const options = { config: { durable_roots: ["store"], runs_root: "store" } };
    expect(await refusal({ ...shared, guard: "audit" }, options)).toEqual([
      "PREFLIGHT_REJECTED",
      "RESERVED_PATH_OVERLAP /outputs/durable_paths/0",
    ]);
    const declared = await declare({ ...shared, guard: "ns-overlay" }, options);
    const request = { ...room.places, ...options, jobspec: toJobSpec(["sh"], shared) as JsonValue };
    await expect(declareGuard(ports, request, declared, "audit")).rejects.toMatchObject({ code: "PREFLIGHT_REJECTED" });
    await expect(declareGuard(ports, request, declared, "ns-overlay")).resolves.toBeUndefined();
  });

  it("goes through a link, or out of the tree", async () => {
    symlinkSync("d", join(root, ".verbatim/scratch/l"));
    symlinkSync(base, join(root, ".verbatim/scratch/out"));
    symlinkSync("../../.git", join(root, ".verbatim/scratch/git"));
    const code = async (path: string) => (await refusal({ catalytic_domains: [`.verbatim/scratch/${path}`] }))[1];
    expect(await code("l")).toBe("PATH_THROUGH_SYMLINK /catalytic_domains/0");
    expect(await code("out/x")).toBe("PATH_ESCAPES_REPO_ROOT /catalytic_domains/0");
    expect(await code("git")).toBe("FORBIDDEN_PATH_OVERLAP /catalytic_domains/0");
    expect(await code("d/a.txt")).toBe("PATH_NOT_A_DIRECTORY /catalytic_domains/0");
    expect(await code("d/a.txt/x")).toBe("PATH_NOT_A_DIRECTORY /catalytic_domains/0");
    expect(await refusal({ inputs: [".verbatim/scratch/out"] })).toEqual([
      "PREFLIGHT_REJECTED",
      "PATH_ESCAPES_REPO_ROOT /inputs/0",
    ]);
  });

  it("speaks for a skill that says something else, or nothing", async () => {
    skill("---\nread_only: true\n---\n");
    expect(await refusal({ skill: { path: "skills/s", declaration: "catalytic" } })).toEqual([
      "SKILL_REFUSED",
      "SKILL_DECLARATION_CONFLICT",
    ]);
    expect(await refusal({ skill: { path: "skills/s", declaration: "read_only" } })).toEqual([
      "SKILL_REFUSED",
      "SKILL_READ_ONLY_HAS_DOMAINS",
    ]);
    writeFileSync(join(root, "skills/s/SKILL.md"), Uint8Array.of(0xff));
    expect(await refusal({ skill: { path: "skills/s", declaration: "catalytic" } })).toEqual([
      "SKILL_REFUSED",
      "SKILL_MANIFEST_UNREADABLE",
    ]);
    expect(await refusal({ skill: { declaration: "read_only" } })).toEqual([
      "SKILL_REFUSED",
      "SKILL_READ_ONLY_HAS_DOMAINS",
    ]);
    const deny = { config: { writer_skills: "deny" } };
    expect(await refusal({ skill: { declaration: "writer" } }, deny)).toEqual(["SKILL_REFUSED", "SKILL_WRITER"]);
  });

  it("is a view of something else than the whole tree, or one with outputs", async () => {
    const view = { view: true, catalytic_domains: ["."] };
    expect((await declare(view)).jobspec.view).toBe(true);
    const invalid = ["PREFLIGHT_REJECTED", "VIEW_DOMAIN_INVALID /catalytic_domains"];
    expect(await refusal({ ...view, catalytic_domains: ["src"] })).toEqual(invalid);
    expect(await refusal({ ...view, catalytic_domains: [".", "src"] })).toEqual(invalid);
    expect(await refusal({ ...view, outputs: { durable_paths: [".verbatim/out/a"] } })).toEqual([
      "PREFLIGHT_REJECTED",
      "VIEW_HAS_OUTPUTS /outputs/durable_paths",
    ]);
  });
});

describe("the environment of a command", () => {
  const jobspec = (allow: string[], set: Record<string, string>) => ({ env: { allow, set } }) as never;

  it("has what was allowed and is there, and what was set", () => {
    const env = effectiveEnv(jobspec(["A", "B", "C"], { B: "set", __proto__x: "1" }), { A: "a", B: "b", D: "d" });
    expect({ ...env }).toEqual({ A: "a", B: "set", __proto__x: "1" });
    expect(Object.getPrototypeOf(env)).toBeNull();
  });

  it("is known by one hash, whatever its order", () => {
    const hash = nodeCrypto.sha256('{"A":"1","B":"2"}');
    expect(hashEnv(nodeCrypto, { B: "2", A: "1" })).toBe(hash);
  });

  it("has a private temp and the mark of the run, and what is added wins", () => {
    expect(commandEnv({ A: "1", TMP: "x" }, "/w", "r", { B: "2" })).toEqual({
      A: "1",
      B: "2",
      TMPDIR: "/w/tmp/t",
      TMP: "/w/tmp/t",
      TEMP: "/w/tmp/t",
      XDG_CACHE_HOME: "/w/tmp/c",
      VERBATIM_RUN_ID: "r",
      VERBATIM_RUN_WORK: "/w",
    });
  });
});
