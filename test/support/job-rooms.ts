import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { isVerbatimError, VerbatimError } from "../../src/core/errors/index.ts";
import type { Message } from "../../src/rooms/jobs/contracts/message-shape.ts";
import type { ExecutePort, ExecuteRequest, PatchEffect, PatchPort } from "../../src/rooms/jobs/ports.ts";

/** A patch of the tests: whole new contents by path (null removes the file), or a code with which the gate refuses. */
interface TestPatch {
  readonly files: Readonly<Record<string, string | null>>;
  readonly refuse?: string;
}

export function makePatch(files: TestPatch["files"], refuse?: string): string {
  return JSON.stringify({ files, ...(refuse === undefined ? {} : { refuse }) });
}

export function write(target: string, patch: string, output?: string): Message["ops"][number] {
  return { type: "WRITE", target, params: { patch, ...(output === undefined ? {} : { output }) } };
}

export function execute(target: string, output?: string): Message["ops"][number] {
  return { type: "EXECUTE", target, params: output === undefined ? {} : { output } };
}

/** A small patch gate over real files. `at` is called at every point where a worker could die. */
export class TestPatchPort implements PatchPort {
  readonly root: string;
  readonly applied: string[] = [];
  readonly refreshed: string[] = [];
  at: (point: "judging" | "applying" | "applied") => Promise<void> = async () => undefined;

  constructor(root: string) {
    this.root = root;
  }

  async judge(patch: string, file_path: string) {
    await this.at("judging");
    const { files, refuse } = JSON.parse(patch) as TestPatch;
    if (refuse !== undefined) return { refused: { code: refuse, details: { files: Object.keys(files) } } };
    const result = files[file_path];
    return {
      files: Object.keys(files),
      base_sha256: await this.fingerprint(file_path),
      result_sha256: result == null ? null : nodeCrypto.sha256(result),
    };
  }

  async fingerprint(file_path: string): Promise<string | null> {
    try {
      return nodeCrypto.sha256(readFileSync(join(this.root, file_path)));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw thrown;
    }
  }

  async apply(patch: string, file_path: string, effect: PatchEffect): Promise<void> {
    await this.at("applying");
    const actual = await this.fingerprint(file_path);
    if (actual === effect.result_sha256) return;
    if (actual !== effect.base_sha256) throw new VerbatimError("WRITE_STATE_UNKNOWN", { details: { file_path } });
    this.applied.push(file_path);
    this.put(file_path, (JSON.parse(patch) as TestPatch).files[file_path] ?? null);
    await this.at("applied");
  }

  async refresh(file_path: string): Promise<void> {
    this.refreshed.push(file_path);
  }

  put(file_path: string, text: string | null): void {
    const place = join(this.root, file_path);
    if (text === null) {
      rmSync(place);
      return;
    }
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(`${place}.new`, text);
    renameSync(`${place}.new`, place);
  }

  read(file_path: string): string {
    return readFileSync(join(this.root, file_path), "utf8");
  }
}

/** Runs JobSpecs of the tests, `{"jobspec":"<words>"}`: each attempt leaves a real file with those words. */
export class TestExecutePort implements ExecutePort {
  readonly root: string;
  readonly requests: ExecuteRequest[] = [];
  at: (point: "running") => Promise<void> = async () => undefined;

  constructor(root: string) {
    this.root = root;
  }

  isJobSpec(text: string): boolean {
    try {
      return typeof (JSON.parse(text) as { jobspec?: unknown }).jobspec === "string";
    } catch (thrown) {
      if (thrown instanceof SyntaxError || isVerbatimError(thrown)) return false;
      throw thrown;
    }
  }

  async run(request: ExecuteRequest) {
    this.requests.push(request);
    const { jobspec } = JSON.parse(request.jobspec) as { jobspec: string };
    mkdirSync(this.root, { recursive: true });
    writeFileSync(join(this.root, request.run_id), jobspec);
    await this.at("running");
    if (jobspec === "refuse") return { refused: { code: "RESTORE_MISMATCH", details: { files: ["a.txt"] } } };
    return { proof_hash: nodeCrypto.sha256(`proof of ${jobspec}`) };
  }
}
