import { lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "../../adapters/disk/durable/atomic-write.ts";
import { resolveInside } from "../../adapters/disk/guarded/inside-root.ts";
import { createPatchChecker } from "../../adapters/git/patch-check.ts";
import { type FileState, patchFile } from "../../adapters/git/patched-file.ts";
import { encodeUtf8, type JsonObject } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import { buildIndex, type ContextPorts } from "../../rooms/context/index.ts";
import type { PatchPort } from "../../rooms/jobs/index.ts";
import { judgePatchWithGit } from "../../rooms/workflow/index.ts";
import type { Composition } from "./compose.ts";
import { lockTree } from "./tree-lock.ts";

/** WRITE steps: the workflow room's patch gate with the configured policy; the target is the scope. */
export function createPatchPort(composition: Composition, context: ContextPorts): PatchPort {
  const { root } = composition.workspace;
  const hash = (state: FileState | null) => (state === null ? null : composition.crypto.sha256(state.bytes));
  return {
    async judge(patch, file_path) {
      const bytes = encodeUtf8(patch);
      const policy = composition.config().workflow.patch;
      const verdict = await judgePatchWithGit(
        { patch: bytes, policy, scope: null, planLimits: null },
        createPatchChecker(root),
        null,
      );
      if (verdict.verdict === "reject") {
        const { verdict: _, stderr: __, code, findings, ...rest } = verdict;
        const details = {
          ...rest,
          ...(findings === undefined ? {} : { findings: findings.map((one) => ({ ...one })) }),
        };
        return { refused: { code, details: details as JsonObject } };
      }
      const files = [...verdict.changed_paths];
      if (files.some((one) => one !== file_path)) return { files, base_sha256: null, result_sha256: null };
      const before = readState(root, file_path);
      const after = await patchFile(bytes, file_path, before);
      return { files, base_sha256: hash(before), result_sha256: hash(after) };
    },
    fingerprint: async (file_path) => hash(readState(root, file_path)),
    async apply(patch, file_path, { base_sha256, result_sha256 }) {
      const unlock = await lockTree(composition, "write", [file_path]);
      try {
        const before = readState(root, file_path);
        const actual_sha256 = hash(before);
        if (actual_sha256 === result_sha256) return;
        const after = actual_sha256 === base_sha256 ? await patchFile(encodeUtf8(patch), file_path, before) : null;
        if (actual_sha256 !== base_sha256 || hash(after) !== result_sha256) {
          throw new VerbatimError("WRITE_STATE_UNKNOWN", {
            details: { file_path, base_sha256, result_sha256, actual_sha256 },
          });
        }
        const place = resolveInside(root, parseRepoPath(file_path));
        if (after === null) rmSync(place);
        else {
          mkdirSync(dirname(place), { recursive: true });
          await writeFileAtomic(place, after.bytes, after.executable ? 0o755 : 0o644);
        }
      } finally {
        unlock();
      }
    },
    async refresh() {
      try {
        await buildIndex(context, { full: false });
      } catch (thrown) {
        if (!isVerbatimError(thrown) || thrown.code !== "INDEX_SOURCES_INVALID") throw thrown;
        composition.notify(`the index was not updated: ${thrown.message}`);
      }
    },
  };
}

/** A regular file as it is; null when there is none. Anything else in its place is refused. */
function readState(root: string, path: string): FileState | null {
  const place = resolveInside(root, parseRepoPath(path));
  const facts = lstatSync(place, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  if (!facts.isFile())
    throw new VerbatimError("PATH_REFUSED", { message: "the target is not a regular file", where: path });
  return { bytes: readFileSync(place), executable: (facts.mode & 0o100) !== 0 };
}
