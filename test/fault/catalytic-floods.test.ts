import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { isToolState, makeCatalyticRepo, openCatalytic, recordTree, toJobSpec } from "../support/catalytic-repo.ts";
import { tryVariants, VARIANTS, type Variants } from "../support/guard-variants.ts";

/** Outputs that nobody could hash in a day are refused by their stat. */

let guards: Variants;

beforeAll(async () => {
  guards = await tryVariants();
});

afterAll(() => guards.close());

const OUT = ".verbatim/out";

interface Flood {
  readonly name: string;
  readonly script: string;
  readonly outputs: readonly string[];
  readonly violations: readonly object[];
  readonly limits?: Readonly<Record<string, number>>;
}

const FLOODS: readonly Flood[] = [
  {
    name: "a declared file of 200 GB",
    script: `truncate -s 200G ${OUT}/huge; echo x > ${OUT}/small`,
    outputs: [`${OUT}/huge`, `${OUT}/small`],
    violations: [{ code: "OUTPUT_TOO_LARGE", path: `${OUT}/huge` }],
  },
  {
    name: "a declared folder with 200 GB",
    script: `mkdir -p ${OUT}/folder; truncate -s 200G ${OUT}/folder/huge`,
    outputs: [`${OUT}/folder/`],
    violations: [{ code: "OUTPUT_TOO_LARGE", path: `${OUT}/folder` }],
  },
  {
    name: "200 GB beside a declared file",
    script: `echo x > ${OUT}/small; truncate -s 200G ${OUT}/huge; for i in 1 2; do truncate -s 700K ${OUT}/part$i; done`,
    outputs: [`${OUT}/small`],
    limits: { quarantine_bytes: 1024 ** 2 },
    violations: ["huge", "part1", "part2"].map((name) => ({
      code: "OUTPUT_UNDECLARED",
      path: `${OUT}/${name}`,
    })),
  },
  {
    name: "files that are too large together",
    script: `for i in 1 2 3; do truncate -s 6G ${OUT}/part$i; done`,
    outputs: [`${OUT}/part1`, `${OUT}/part2`, `${OUT}/part3`],
    violations: [1, 2, 3].map((i) => ({ code: "OUTPUT_TOO_LARGE", path: `${OUT}/part${i}` })),
    limits: { output_bytes: 1024 ** 3 },
  },
  {
    name: "a declared folder with too many entries",
    script: `mkdir -p ${OUT}/folder; cd ${OUT}/folder; i=0; while [ $i -lt 60 ]; do echo > $i; i=$((i + 1)); done`,
    outputs: [`${OUT}/folder/`],
    violations: [{ code: "OUTPUT_TOO_LARGE", path: `${OUT}/folder` }],
    limits: { max_entries: 50 },
  },
];

describe.each(VARIANTS)("under $name a command that leaves", (variant) => {
  it.concurrent.for(FLOODS)("$name is refused without reading it", async (flood, context) => {
    if (guards.answer(variant) !== "ok") context.skip(`${variant.name}: ${guards.answer(variant)}`);
    const { base, root } = makeCatalyticRepo();
    try {
      const room = openCatalytic(base, root, guards.ports(variant));
      const before = recordTree(base, isToolState);
      const spec = { guard: variant.guard, outputs: { durable_paths: flood.outputs } };
      const config = { limits: flood.limits ?? {} };
      const run = await room.run(toJobSpec(["sh", "-ec", flood.script], spec), { config });
      await room.close();
      expect(run).toMatchObject({ accepted: false, condition: "OUTPUT_VIOLATION", violations: flood.violations });
      expect(recordTree(base, isToolState)).toEqual(before);
      const listed = readFileSync(join(root, ".verbatim/runs/run-1/QUARANTINE.json"), "utf8");
      expect(Object.keys(JSON.parse(listed) as object)).toEqual(expect.arrayContaining([...run.quarantined]));
      expect(existsSync(join(root, ".verbatim/runs/run-1/quarantine", OUT, "huge"))).toBe(false);
    } finally {
      await runDisk.discard(base);
    }
  });
});
