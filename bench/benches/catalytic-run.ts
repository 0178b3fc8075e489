import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "../../src/adapters/process/tool.ts";
import { openApp } from "../../src/app/call.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../../src/app/compose/catalytic-ports.ts";
import { compose } from "../../src/app/compose/compose.ts";
import type { GuardName } from "../../src/core/contracts/guards.ts";
import { readRecord } from "../../src/rooms/catalytic/record/record-files.ts";
import { runCatalytic } from "../../src/rooms/catalytic/run/run.ts";
import { beginLook } from "../../src/rooms/catalytic/tree/tree-now.ts";
import { verifyRun } from "../../src/rooms/catalytic/verify/verify.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers } from "../seed.ts";

const DOMAIN = ".verbatim/scratch/d";
const FILE_BYTES = 4096;

/** A workspace on tmpfs, if there is one, with a domain of N different files. */
async function makeWorkspace(size: number) {
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const base = realpathSync(mkdtempSync(join(parent, "verbatim-bench-")));
  const root = join(base, "repo");
  const domain = join(root, DOMAIN);
  const next = seededIntegers(11);
  for (let i = 0; i < size; i++) {
    const folder = join(domain, `f${i % 100}`);
    if (i < 100) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${i}.txt`), Buffer.alloc(FILE_BYTES, `${i} ${next(1_000_000)} `));
  }
  const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), HOME: base };
  const options = { surface: "library", start: root, env, platform: process.platform } as const;
  const composition = compose(options, () => openApp(options));
  const real = createCatalyticPorts(composition);
  // The bench ends at PROOF.json; the product ledger has a bench of its own.
  const ports = { ...real, records: { appendRun: async () => undefined, append: async () => undefined } };
  const places = toCatalyticPlaces(composition);
  await ports.guards.probe(true);
  const close = async () => {
    await composition.close();
    rmSync(base, { recursive: true, force: true });
  };
  return { base, root, domain, ports, places, close };
}

function toJobSpec(runId: string, guard: GuardName): object {
  return {
    schema_version: "cmp01-jobspec-1",
    run_id: runId,
    job_id: "bench",
    intent: "Do nothing",
    determinism: "deterministic",
    catalytic_domains: [DOMAIN],
    durable_output_roots: [],
    outputs: { durable_paths: [] },
    command: ["true"],
    guard,
  };
}

/** What nobody can avoid: every file read and hashed, one after the other. */
function hashTree(folder: string): number {
  let files = 0;
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const place = join(folder, item.name);
    if (item.isDirectory()) files += hashTree(place);
    else {
      hash("sha256", readFileSync(place), "hex");
      files++;
    }
  }
  return files;
}

function runBenchOf(guard: GuardName, copies: boolean): Bench {
  return {
    name: `catalytic-run-${guard}`,
    what: `a whole run of true under ${guard}, all artifacts and the proof, domain of N files`,
    baseline: `read and hash the tree twice in Node${copies ? ", and one cp -a" : ""}`,
    corpus: "different files of 4 KiB in 100 folders, on tmpfs where there is one",
    sizes: [1_000, 10_000],
    goal: { kind: "time", atMost: 2.0 },
    async prepare(size) {
      const { root, domain, base, ports, places, close } = await makeWorkspace(size);
      let count = 0;
      return {
        async ours() {
          const runId = `bench-${++count}`;
          const run = await runCatalytic(ports, { ...places, jobspec: toJobSpec(runId, guard) as never });
          if (!run.accepted) throw new Error(`the run was not accepted: ${run.condition}`);
          rmSync(join(root, ".verbatim/runs", runId), { recursive: true });
        },
        async baseline() {
          hashTree(domain);
          hashTree(domain);
          if (!copies) return;
          await runTool("cp", ["-a", domain, join(base, "copy")]);
          rmSync(join(base, "copy"), { recursive: true });
        },
        close,
      };
    },
  };
}

export const catalyticRunOverlay = runBenchOf("ns-overlay", false);
export const catalyticRunBind = { ...runBenchOf("ns-bind", true), onAsking: true };

/** Verification of a finished run, the tree included. */
export const catalyticVerify: Bench = {
  name: "catalytic-verify",
  onAsking: true,
  what: "verify a run with its tree: every artifact recomputed, every byte of the domain hashed",
  baseline: "read and hash the tree once in Node",
  corpus: "different files of 4 KiB in 100 folders, on tmpfs where there is one",
  sizes: [1_000, 10_000],
  goal: { kind: "time", atMost: 1.3 },
  async prepare(size) {
    const { root, domain, ports, places, close } = await makeWorkspace(size);
    await runCatalytic(ports, { ...places, jobspec: toJobSpec("bench", "ns-overlay") as never });
    const record = join(root, ".verbatim/runs/bench");
    return {
      async ours() {
        const look = beginLook(ports, { name: "bench", record, root }) ?? (() => null);
        const files = readRecord(ports.disk, record);
        const options = { pins: [], policy_sha256: null, tree: look, strict_tree: true };
        const verdict = await verifyRun(ports.crypto, { name: "bench", files }, options);
        if (!verdict.accepted) throw new Error("the run was not accepted");
      },
      baseline: () => hashTree(domain),
      close,
    };
  },
};
