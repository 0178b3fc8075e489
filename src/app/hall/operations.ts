import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sortedByCodePoint } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../../core/operation.ts";
import { listAreas } from "../conformance/areas.ts";
import { runVectors } from "../conformance/runner.ts";
import { parseVectors, type Vector } from "../conformance/vector.ts";
import { CHECKED } from "./checks.ts";
import { formatCompletion, SHELLS } from "./completion.ts";
import { demonstrate } from "./demo.ts";
import { diagnose } from "./doctor.ts";
import { createContractDocs, proposeConfig } from "./init.ts";
import type { HallPorts } from "./ports.ts";

const MAX_VECTORS = 256 * 1024 * 1024;

const conformance = defineOperation({
  name: "hall.conformance",
  summary: "Runs test vectors against the public functions of the rooms.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    files: z.array(z.string()).min(1).describe("Vector files; - reads standard input."),
    area: z.string().optional().describe("Only areas that start with this."),
  }),
  output: z.strictObject({
    passed: z.int(),
    failed: z.int(),
    skipped: z.int(),
    mismatches: z.array(
      z.strictObject({ id: z.string(), area: z.string(), name: z.string(), expected: z.string(), actual: z.string() }),
    ),
    skips: z.array(z.strictObject({ id: z.string(), reason: z.string() })),
  }),
  async run({ files, areas: ports }: HallPorts, input) {
    const areas = listAreas();
    const prefix = input.area ?? "";
    if (![...areas.keys()].some((area) => area.startsWith(prefix))) {
      throw new VerbatimError("VECTOR_AREA_UNKNOWN", {
        message: `no area starts with ${JSON.stringify(prefix)}`,
        details: { areas: [prefix] },
        fix: `Areas: ${sortedByCodePoint(areas.keys()).join(" ")}`,
      });
    }
    const vectors: Vector[] = [];
    for (const file of input.files) {
      for (const vector of parseVectors(await files.read(file, MAX_VECTORS), file)) vectors.push(vector);
    }
    const chosen = vectors.filter(({ area }) => area.startsWith(prefix));
    return runVectors(chosen, areas, { ...ports, vectors });
  },
});

const doctor = defineOperation({
  name: "hall.doctor",
  summary: "Checks this machine and this workspace; each line says ok, warn or fail.",
  effect: "read",
  who: READER,
  surfaces: [...LOCAL_SURFACES, "http"],
  input: z.strictObject({}),
  output: CHECKED,
  async run(ports: HallPorts) {
    const checks = await diagnose(ports);
    const found = { ok: checks.every(({ status }) => status !== "fail"), checks };
    ports.onDiagnosed(found);
    return found;
  },
});

const init = defineOperation({
  name: "hall.init",
  summary: "Looks at the repository, proposes a configuration and writes it.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    write: z.boolean().default(false).describe("Write the proposal without asking."),
    docs: z.boolean().default(false).describe("Also write minimal versions of missing mandatory documents."),
  }),
  output: z.strictObject({
    path: z.string(),
    written: z.boolean(),
    docs: z.array(z.string()).describe("documents that were written"),
    config: z.record(z.string(), z.unknown()),
    sources: z.array(z.strictObject({ glob: z.string(), files: z.int(), bytes: z.int() })),
    reasons: z.array(z.string()),
  }),
  async run({ workspace, files, createStateFolder, findDefaultSources }: HallPorts, { write, docs: withDocs }) {
    if (existsSync(workspace.config)) {
      throw new VerbatimError("FILE_EXISTS", {
        message: "a configuration already exists and is never overwritten",
        where: workspace.config,
        fix: "Edit it, or remove it and run verbatim init again.",
      });
    }
    const docs = write && withDocs ? createContractDocs(workspace.root) : [];
    const { config, sources, reasons } = proposeConfig(workspace.root, await findDefaultSources());
    const text = `${JSON.stringify(config, null, 2)}\n`;
    if (write) {
      await files.create(workspace.config, new TextEncoder().encode(text));
      createStateFolder();
      mkdirSync(join(workspace.folder, "runs"), { recursive: true, mode: 0o700 });
      for (const name of ["out", "scratch"]) mkdirSync(join(workspace.folder, name), { recursive: true });
    }
    const plain = JSON.parse(text) as Record<string, unknown>;
    return {
      path: workspace.config,
      written: write,
      docs,
      config: plain,
      sources: [...sources],
      reasons: [...reasons],
    };
  },
});

const completion = defineOperation({
  name: "hall.completion",
  summary: "Prints a completion script for your shell.",
  effect: "read",
  surfaces: ["cli"],
  input: z.strictObject({
    shell: z.enum(SHELLS).describe("Which shell."),
    tree: z
      .array(z.strictObject({ path: z.string(), words: z.array(z.string()), flags: z.array(z.string()) }))
      .describe("The verbs and flags of the command line."),
  }),
  output: z.strictObject({ script: z.string() }),
  run: async (_: HallPorts, { shell, tree }) => ({ script: formatCompletion(shell, tree) }),
});

const demo = defineOperation({
  name: "hall.demo",
  summary: "Shows what Verbatim does, on a sample repository in a temporary folder.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    keep: z.boolean().default(false).describe("Keep the sample folder to look around in it."),
    studio: z.boolean().default(false).describe("Keep the sample, and open its run in the Studio afterwards."),
  }),
  output: z.strictObject({
    ok: z.boolean(),
    folder: z.string().nullable(),
    kept: z
      .strictObject({
        repository: z.string(),
        home: z.string().describe("XDG_CONFIG_HOME and XDG_STATE_HOME of the sample, where its runs are."),
        run_id: z.string().describe("The run of the story."),
      })
      .nullable()
      .describe("The sample, where it was kept."),
    steps: z.array(z.strictObject({ title: z.string(), lines: z.array(z.string()), ok: z.boolean() })),
    next: z.array(z.string()),
  }),
  run: (ports: HallPorts, input) => demonstrate(ports, input.keep || input.studio),
});

/** Everything under `hall.` */
export const HALL_OPERATIONS = [conformance, doctor, init, completion, demo] as const;
