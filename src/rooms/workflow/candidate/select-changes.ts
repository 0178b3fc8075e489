import { VerbatimError } from "../../../core/errors/index.ts";
import type { ContentStore, SyncCrypto } from "../../../core/ports.ts";
import type { Candidate, CandidateFile, CandidatePick } from "../contracts/candidate.ts";
import type { BaseTree, TreeFiles } from "../ports.ts";
import type { FileChange, FileSide } from "./build-candidate.ts";
import type { FileHunks } from "./hunks.ts";
import { buildSelectedImage } from "./selected-image.ts";

/** What building a selection needs from outside. */
export interface SelectPorts {
  readonly trees: TreeFiles;
  readonly content: Pick<ContentStore, "get" | "put">;
  readonly crypto: SyncCrypto;
}

/**
 * The changes of a selection: each picked file as the candidate has it, or its base with the picked hunks. New images are
 * put into the content store. The rest of the way is that of every candidate: patch, `buildCandidate`, gate, verification.
 */
export async function selectChanges(
  ports: SelectPorts,
  base: BaseTree,
  candidate: Candidate,
  hunks: ReadonlyMap<string, FileHunks>,
  picks: readonly CandidatePick[],
): Promise<FileChange[]> {
  const paths = picks.map(({ path }) => path);
  const before = await ports.trees.find(base, paths);
  const changes: FileChange[] = [];
  for (const pick of picks) {
    const { path } = pick;
    const files = candidate.files.filter((file) => file.path === path);
    if (files.length === 0) {
      throw new VerbatimError("SELECTION_INVALID", { message: `nothing in the change is called ${path}` });
    }
    const old = before.get(path);
    const bytes = old === undefined ? null : await old.read();
    const side = old === undefined || bytes === null ? null : toSide(ports, old.mode, bytes);
    changes.push({
      path,
      before: side,
      after:
        pick.hunks === "all" || side === null || bytes === null
          ? await lastWord(ports, files)
          : await pickedSide(ports, side.mode, buildSelectedImage(bytes, hunks.get(path)?.hunks ?? [], pick)),
    });
  }
  return changes;
}

/** Of a deletion and an addition of one path the addition is what is there afterwards. */
async function lastWord(ports: SelectPorts, files: readonly CandidateFile[]): Promise<FileSide | null> {
  const last = files.find(({ sha256 }) => sha256 !== null);
  if (last === undefined || last.mode === null || last.sha256 === null) return null;
  return toSide(ports, last.mode, await ports.content.get(last.sha256));
}

/** The mode of a file changes with the whole file only. */
async function pickedSide(ports: SelectPorts, mode: FileSide["mode"], image: Uint8Array): Promise<FileSide> {
  await ports.content.put(image);
  return toSide(ports, mode, image);
}

function toSide({ crypto }: SelectPorts, mode: FileSide["mode"], bytes: Uint8Array): FileSide {
  const side = { mode, sha256: crypto.sha256(bytes), bytes: bytes.length, has_nul: bytes.includes(0) };
  return mode === "120000" ? { ...side, target: new TextDecoder().decode(bytes) } : side;
}
