import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VerbatimError } from "../../core/errors/index.ts";
import { type Composition, compose } from "./compose.ts";
import { createExecutePort } from "./execute-port.ts";

const NEVER = new AbortController().signal;

/** Says that it began, changes what it may, and goes on for as long as somebody lets it when there is no `stop` file. */
const JOBSPEC = JSON.stringify({
  schema_version: "cmp01-jobspec-1",
  run_id: "lamp",
  job_id: "lamp",
  intent: "trim the lamp",
  determinism: "deterministic",
  catalytic_domains: [".verbatim/scratch"],
  durable_output_roots: [".verbatim/out"],
  outputs: { durable_paths: [".verbatim/out/done.txt"] },
  command: [
    "sh",
    "-c",
    "echo changed > .verbatim/scratch/kept.txt; echo begun; test -e short || sleep 600; echo done > .verbatim/out/done.txt",
  ],
});

describe("an EXECUTE step whose lease is lost", () => {
  let folder: string;
  let root: string;
  let composition: Composition;
  let onBegun: () => void;

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-execute-")));
    root = join(folder, "work");
    mkdirSync(join(root, ".verbatim/scratch"), { recursive: true });
    writeFileSync(join(root, ".verbatim/scratch/kept.txt"), "as it was\n");
    onBegun = () => undefined;
    const env = { PATH: process.env["PATH"], HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
    composition = compose(
      { surface: "library", start: root, env, platform: process.platform, onOutput: () => onBegun() },
      () => {
        throw new VerbatimError("INTERNAL", { message: "one workspace is enough" });
      },
    );
  });
  afterEach(async () => {
    await composition.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const readKept = () => readFileSync(join(root, ".verbatim/scratch/kept.txt"), "utf8");

  it("ends its command, puts everything back and says nothing; the next attempt does the work", async () => {
    const lost = new AbortController();
    onBegun = () => lost.abort();
    const port = createExecutePort(composition);
    expect(await port.run({ jobspec: JOBSPEC, run_id: "lamp-1", earlier: [], signal: lost.signal })).toBeNull();
    expect(readKept()).toBe("as it was\n");
    writeFileSync(join(root, "short"), "");
    const again = await port.run({ jobspec: JOBSPEC, run_id: "lamp-2", earlier: ["lamp-1"], signal: NEVER });
    expect(again).toEqual({ proof_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    expect(readKept()).toBe("as it was\n");
  });

  it("does not begin at all when the lease is gone already", async () => {
    let begun = false;
    onBegun = () => {
      begun = true;
    };
    const signal = AbortSignal.abort();
    const port = createExecutePort(composition);
    expect(await port.run({ jobspec: JOBSPEC, run_id: "lamp-1", earlier: [], signal })).toBeNull();
    expect([begun, readKept()]).toEqual([false, "as it was\n"]);
  });
});
