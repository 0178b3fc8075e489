import { z } from "zod";
import { VerbatimError } from "../../../../core/errors/index.ts";
import { formatArtifact } from "../../artifacts/json.ts";
import type { PreImage } from "../../ports.ts";
import { corruptRun, readRecordFile } from "../record/record-file.ts";
import type { Run } from "../run.ts";

/** A path after a patch, as it was verified. */
export interface PostImage {
  readonly path: string;
  readonly mode: string | null;
  readonly sha256: string | null;
}

const manifest = z.object({
  files: z.array(
    z
      .object({
        path: z.string(),
        exists: z.boolean(),
        mode: z.string().nullable(),
        sha256: z.string().nullable(),
      })
      .refine(({ exists, mode, sha256 }) => !exists || (mode !== null && sha256 !== null), "has no mode or no hash"),
  ),
});

/** The snapshot folder of a candidate. */
export function snapshotFolder(iteration: number): string {
  return `snapshot/${String(iteration).padStart(2, "0")}`;
}

/** Keeps the state of the paths a patch will change, durably, before anything is changed. */
export function takeSnapshot(run: Run, folder: string, paths: readonly string[]): PreImage[] {
  const { repoFiles, crypto } = run.ports;
  const images = paths.map((path, i): PreImage => {
    const found = repoFiles.look(path);
    if (found === "other") {
      throw new VerbatimError("REPO_DIRTY", {
        message: `${path} is no longer a plain file`,
        details: { paths: [path] },
      });
    }
    if (found === null || found === "folder") return { path, exists: false, mode: null, sha256: null };
    run.folder.write(`${folder}/${i}.bytes`, found.bytes);
    return { path, exists: true, mode: found.mode, sha256: crypto.sha256(found.bytes) };
  });
  run.folder.write(
    `${folder}/manifest.json`,
    formatArtifact({ schema_version: "verbatim-snapshot-v1", files: images }),
  );
  return images;
}

/** The pre-images of a snapshot, or null when it was never completed. */
export function readSnapshot(run: Run, folder: string): PreImage[] | null {
  return readRecordFile(manifest, run, `${folder}/manifest.json`)?.files ?? null;
}

/** Puts every path back to its pre-image and proves it by hash. RUN_CORRUPT, and nothing done, for a damaged snapshot. */
export function restoreSnapshot(run: Run, folder: string): void {
  const { repoFiles } = run.ports;
  const images = readSnapshot(run, folder) ?? [];
  for (const [i, image] of images.entries()) {
    if (image.exists && !isAsBefore(run, image)) readKept(run, `${folder}/${i}.bytes`, image);
  }
  // First what goes: a file may stand where a folder was, and the other way round.
  for (const image of images) if (!image.exists && !isAsBefore(run, image)) repoFiles.drop(image.path);
  const put = images.filter(({ exists }) => exists).map(({ path }) => path);
  const blocking = findInTheWay(run, put, []);
  if (blocking.length > 0) {
    throw new VerbatimError("ROLLBACK_CONFLICT", {
      message: `in the way of a file that must be restored: ${blocking.join(", ")}`,
      details: { paths: blocking },
    });
  }
  for (const [i, image] of images.entries()) {
    if (!image.exists || isAsBefore(run, image)) continue;
    repoFiles.put(image.path, readKept(run, `${folder}/${i}.bytes`, image), image.mode!);
  }
  const wrong = images.filter((image) => !isAsBefore(run, image));
  if (wrong.length > 0) {
    throw new VerbatimError("INTERNAL", {
      message: `${wrong.map(({ path }) => path).join(", ")} could not be restored`,
      details: { snapshot: `${run.folder.dir}/${folder}` },
    });
  }
}

/** The bytes of a pre-image. */
function readKept(run: Run, file: string, { path, sha256 }: PreImage): Uint8Array {
  const bytes = run.read(file);
  if (bytes === null) throw corruptRun(run, file, `is missing; it has the bytes of ${path}`);
  if (run.ports.crypto.sha256(bytes) === sha256) return bytes;
  throw corruptRun(run, file, `does not match its recorded hash; it has the bytes of ${path}`);
}

function isAsBefore(run: Run, image: PreImage): boolean {
  const { path, mode, sha256 } = image;
  return isAt(run, { path, mode, sha256 });
}

/** Whether a path of the repository is exactly in a state. */
export function isAt(run: Run, image: PostImage): boolean {
  const found = run.ports.repoFiles.look(image.path);
  if (found === "other") return false;
  if (found === null || found === "folder") return image.sha256 === null;
  return image.mode === found.mode && image.sha256 === run.ports.crypto.sha256(found.bytes);
}

/** Files in folders that stand where files must be put, other than those that are taken away first. */
export function findInTheWay({ ports }: Run, put: readonly string[], gone: readonly string[]): string[] {
  const leaving = new Set(gone);
  return put.flatMap((path) =>
    ports.repoFiles.look(path) === "folder" ? ports.repoFiles.below(path).filter((one) => !leaving.has(one)) : [],
  );
}
