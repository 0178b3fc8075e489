import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";
import { isNamespace, tryVariants, VARIANTS, type Variants } from "../support/guard-variants.ts";
import { MAPPED_WRITE } from "../support/mapped-write.ts";

/** Commands that go for what the tool itself keeps: records of other runs, the journal, the place of a domain. */

const D = ".verbatim/scratch/d";
const RUNS = "LAW/CONTRACTS/_runs";
const CMP01 = {
  catalytic_domains: ["THOUGHT/LAB/_tmp"],
  durable_output_roots: [RUNS],
  outputs: { durable_paths: [`${RUNS}/report.json`] },
};
/** The same in a workspace that keeps its runs among its outputs. */
const OWN_ROOTS = {
  durable_output_roots: [".verbatim/out"],
  outputs: { durable_paths: [".verbatim/out/report.json"] },
};

let guards: Variants;
let base: string;
let root: string;

beforeAll(async () => {
  guards = await tryVariants();
});

afterAll(() => guards.close());

beforeEach(() => {
  ({ base, root } = makeCatalyticRepo());
});

afterEach(() => runDisk.discard(base));

function configure(catalytic: object): void {
  writeFileSync(join(root, "verbatim.config.json"), JSON.stringify({ catalytic }));
}

describe.each(VARIANTS)("under $name", (variant) => {
  const { guard } = variant;

  it.for([
    ["CMP-01", { profile: "cmp-01" }, RUNS, CMP01],
    ["roots of its own", { runs_root: ".verbatim/out" }, ".verbatim/out", OWN_ROOTS],
  ] as const)(
    "with %s an output among the runs leaves the records of other runs alone",
    async ([, config, runs, spec], context) => {
      if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
      configure(config);
      mkdirSync(join(root, "THOUGHT/LAB/_tmp"), { recursive: true });
      const room = openCatalytic(base, root, guards.ports(variant));
      const quiet = { ...spec, outputs: { durable_paths: [] }, guard };
      expect(await room.run(toJobSpec(["true"], { ...quiet, run_id: "other" }))).toMatchObject({ accepted: true });
      const record = join(root, runs, "other");
      const before = recordTree(record);
      const script = `echo 1 > ${spec.outputs.durable_paths[0]}; echo x >> ${runs}/other/PROOF.json; rm -f ${runs}/other/LEDGER.jsonl; true`;
      const run = room.run(toJobSpec(["sh", "-c", script], { ...spec, guard }));
      if (isNamespace(variant)) {
        expect(await run).toMatchObject({ accepted: true });
        expect(existsSync(join(root, spec.outputs.durable_paths[0]!))).toBe(true);
      } else {
        const errors = [{ code: "RESERVED_PATH_OVERLAP", pointer: "/outputs/durable_paths/0" }];
        await expect(run).rejects.toMatchObject({ code: "PREFLIGHT_REJECTED", exit: 2, details: { errors } });
      }
      expect(recordTree(record)).toEqual(before);
      await room.close();
    },
  );

  it("an output in a folder of its own among the runs is what it was meant to be", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    configure({ profile: "cmp-01" });
    mkdirSync(join(root, "THOUGHT/LAB/_tmp"), { recursive: true });
    const room = openCatalytic(base, root, guards.ports(variant));
    const output = `${RUNS}/reports/report.json`;
    const spec = { ...CMP01, outputs: { durable_paths: [output] }, guard };
    expect(await room.run(toJobSpec(["sh", "-c", `echo 1 > ${output}`], spec))).toMatchObject({ accepted: true });
    expect(readFileSync(join(root, output), "utf8")).toBe("1\n");
    await room.close();
  });

  it("a word in the run's own journal is noticed, or cannot be written", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const room = openCatalytic(base, root, guards.ports(variant));
    const journal = ".verbatim/state/catalytic/run-1/journal.jsonl";
    const script = `echo '{"op":"CLEANED"}' >> ${journal}; true`;
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
    await room.close();
    if (guard !== "audit") expect(run).toMatchObject({ accepted: true, violations: [] });
    else {
      const violations = [{ code: "RUN_DIR_TOUCHED", path: journal }];
      expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION", violations });
    }
  });

  it("the word of another run that the command made up excuses nothing", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const room = openCatalytic(base, root, guards.ports(variant));
    const entry = '{"ended":false,"paths":["src"],"run_id":"made-up"}';
    const script = `echo '${entry}' > .verbatim/state/catalytic/_index/made-up.json; echo x > src/app.txt; true`;
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
    await room.close();
    if (guard !== "audit") expect(run).toMatchObject({ accepted: true, violations: [] });
    else expect(run).toMatchObject({ accepted: false, violations: [{ code: "OUTSIDE_CHANGED", path: "src/app.txt" }] });
  });

  it.for([
    ["a link", `rm -rf ${D}; ln -s ../../src ${D}; true`],
    ["another folder", `rm -rf ${D}; mkdir ${D}; true`],
    ["nothing", `rm -rf ${D}; true`],
  ] as const)(
    "a domain whose place was taken by %s comes back, and nobody is blamed for it",
    async ([, script], context) => {
      if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
      const room = openCatalytic(base, root, guards.ports(variant));
      const before = recordTree(join(root, D));
      const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
      await room.close();
      expect(run).toMatchObject({ accepted: true, condition: "RESTORED_IDENTICAL", violations: [] });
      expect(recordTree(join(root, D))).toEqual(before);
    },
  );

  it("a byte written through a mapping is noticed, also where no time tells of it", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const room = openCatalytic(base, root, guards.ports(variant));
    const run = await room.run(toJobSpec([...MAPPED_WRITE, "src/app.txt"], { guard }));
    await room.close();
    if (guard !== "audit") expect(run).toMatchObject({ accepted: true, violations: [] });
    else {
      expect(readFileSync(join(root, "src/app.txt"), "utf8")).toBe("Xpp\n");
      const violations = [{ code: "OUTSIDE_CHANGED", path: "src/app.txt" }];
      expect(run).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION", violations });
    }
  });

  it("a file that came and went beside the domain is still noticed", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const room = openCatalytic(base, root, guards.ports(variant));
    const script = `echo x > ${D}/../new; rm -f ${D}/../new; true`;
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard }));
    await room.close();
    if (guard !== "audit") expect(run).toMatchObject({ accepted: true, violations: [] });
    else expect(run).toMatchObject({ violations: [{ code: "OUTSIDE_CHANGED", path: ".verbatim/scratch" }] });
  });

  it("the folder of an output that a link took the place of is put back, and the link not followed", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const room = openCatalytic(base, root, guards.ports(variant));
    const before = [recordTree(join(root, "src")), recordTree(join(root, ".verbatim/out"))];
    const script = "rm -rf .verbatim/out; ln -s ../src .verbatim/out; chmod 700 .verbatim/out/.; true";
    const outputs = { durable_paths: [".verbatim/out/new.txt"] };
    chmodSync(join(root, ".verbatim/out"), 0o755);
    const run = await room.run(toJobSpec(["sh", "-c", script], { guard, outputs }));
    await room.close();
    expect(run.accepted).toBe(false);
    expect([recordTree(join(root, "src")), recordTree(join(root, ".verbatim/out"))]).toEqual(before);
  });

  it("a closed domain below the folder of an output comes back", async (context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    configure({ durable_roots: ["dist"], catalytic_roots: ["dist/cache"] });
    mkdirSync(join(root, "dist/cache/c"), { recursive: true });
    writeFileSync(join(root, "dist/cache/c/f"), "f");
    chmodSync(join(root, "dist/cache/c"), 0o555);
    const before = recordTree(join(root, "dist"));
    const room = openCatalytic(base, root, guards.ports(variant));
    const spec = { catalytic_domains: ["dist/cache/c"], durable_output_roots: ["dist"], guard };
    const outputs = { durable_paths: ["dist/app.js"] };
    const run = await room.run(
      toJobSpec(["sh", "-c", "chmod 755 dist/cache/c; echo 1 > dist/cache/c/f; echo 1 > dist/app.js"], {
        ...spec,
        outputs,
      }),
    );
    await room.close();
    expect(run).toMatchObject({ accepted: true, violations: [] });
    expect({ ...recordTree(join(root, "dist")), "app.js": undefined }).toEqual({ ...before, "app.js": undefined });
  });
});
