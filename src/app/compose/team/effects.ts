import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildEffect, buildSeal } from "../../../adapters/git/effect-commit.ts";
import { readEffect, takePlace } from "../../../adapters/git/effect-ref.ts";
import { openJobTree, readCommitFile, readJobChanges } from "../../../adapters/git/job-tree.ts";
import type { Mirror } from "../../../adapters/git/mirror.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { EffectRequest, EffectsPort, StepFailure } from "../../../rooms/jobs/index.ts";
import { CONFIG_FILE } from "../../config/workspace.ts";
import type { Composition } from "../compose.ts";
import { contextPorts } from "../context.ts";
import { createExecutePort } from "../execute-port.ts";
import { createPatchPort } from "../patch-port.ts";

interface EffectsOptions {
  readonly mirror: Mirror;
  /** Folder for the work trees of this incarnation. */
  readonly folder: string;
  /** A workspace of its own around a work tree, with a store in a file. */
  readonly compose: (start: string) => Composition;
}

/** Verdicts about the change; anything else says that it could not be tried here. */
const VERDICT_EXITS: ReadonlySet<number> = new Set([1, 2]);

type Result = { readonly proof_hash: string | null } | { readonly refused: StepFailure } | null;

/** Effects in git: each attempt has a work tree of its own, which is deleted when it ended, however it ended. */
export function createEffects({ mirror, folder, compose }: EffectsOptions): EffectsPort {
  /** With `only` the work tree has this file and no other: whoever changes one need not write thousands. */
  const attempt = async (request: EffectRequest, only: string | null) => {
    const place = join(folder, `${process.pid}-${request.job_id}-${request.step_id.slice(0, 8)}-${request.token}`);
    // What an attempt of this name left behind, it left when it was killed.
    rmSync(place, { recursive: true, force: true });
    const tree = join(place, "tree");
    try {
      await requireCommit(mirror, request.parent);
      await openJobTree(mirror, request.parent, tree, only);
      const result = await work(request, await composeAt(mirror, request, place, compose));
      if (result === null || "refused" in result) return result;
      const changes = await readJobChanges(mirror, request.parent, tree, only);
      const made = await buildEffect(mirror, request.parent, changes, request.words);
      return { ...made, proof_hash: result.proof_hash };
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  };
  return {
    async make(request) {
      if (request.op !== "WRITE") return attempt(request, null);
      try {
        const made = await attempt(request, request.file_path);
        if (made === null || !("refused" in made)) return made;
      } catch (thrown) {
        if (!isVerbatimError(thrown) || !VERDICT_EXITS.has(thrown.exit)) throw thrown;
      }
      // A refusal is said of the whole tree: a patch may name files that are not there otherwise.
      return attempt(request, null);
    },
    seal: async (parent, words) => {
      await requireCommit(mirror, parent);
      return (await buildSeal(mirror, parent, words)).commit;
    },
    read: (at) => readEffect(mirror, at),
    take: (at, commit) => takePlace(mirror, at, commit),
  };
}

/** Removes the work trees of processes that are gone; whoever works on their jobs now has others. */
export function sweepWork(folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = Number(/^([1-9]\d*)-/.exec(name)?.[1] ?? Number.NaN);
    if (!isAlive(pid)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === "EPERM";
  }
}

/** A commit that another worker pushed is fetched when it is needed. */
async function requireCommit(mirror: Mirror, commit: string): Promise<void> {
  if (await mirror.hasCommit(commit)) return;
  await mirror.fetch();
  if (await mirror.hasCommit(commit)) return;
  throw new VerbatimError("EFFECT_BASE_GONE", { details: { commit } });
}

/** The configuration is that of the base: a step before this one may have written another into the tree. */
async function composeAt(
  mirror: Mirror,
  { base }: EffectRequest,
  place: string,
  compose: (start: string) => Composition,
): Promise<Composition> {
  const settings = join(place, "base");
  mkdirSync(join(settings, ".verbatim"), { recursive: true, mode: 0o700 });
  const file = await readCommitFile(mirror, base, CONFIG_FILE);
  if (file !== null) writeFileSync(join(settings, CONFIG_FILE), file);
  const config = compose(settings).config();
  return { ...compose(join(place, "tree")), config: () => config };
}

async function work(request: EffectRequest, composition: Composition): Promise<Result> {
  try {
    return request.op === "WRITE" ? await write(request, composition) : await execute(request, composition);
  } finally {
    await composition.close();
  }
}

async function write({ text, file_path }: EffectRequest, composition: Composition): Promise<Result> {
  const port = createPatchPort(composition, await contextPorts(composition, "mutate"));
  const effect = await port.judge(text, file_path);
  if ("refused" in effect) return effect;
  if (effect.files.some((file) => file !== file_path)) {
    throw new VerbatimError("WRITE_OUTSIDE_TARGET", { details: { file_path, files: [...effect.files] } });
  }
  await port.apply(text, file_path, effect);
  return { proof_hash: null };
}

async function execute({ text, step_id, token, signal }: EffectRequest, composition: Composition): Promise<Result> {
  const run_id = `${step_id}-${token}`;
  return createExecutePort(composition).run({ jobspec: text, run_id, earlier: [], signal });
}
