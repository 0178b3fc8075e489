import { lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { runGit } from "./git-process.ts";

/** A file's bytes and whether it may be executed. */
export interface FileState {
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/**
 * What a patch makes of one file, computed by git in a folder of its own: nothing of the repository is touched. The
 * patch was accepted by the gate before. Null means that there is no file, before or after.
 */
export async function patchFile(patch: Uint8Array, path: string, before: FileState | null): Promise<FileState | null> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-patch-")));
  try {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (before !== null) writeFileSync(place, before.bytes, { mode: before.executable ? 0o755 : 0o644 });
    const args = ["apply", "--whitespace=nowarn", "-"];
    // Without a repository around it git takes the folder as it is.
    const env = { GIT_CEILING_DIRECTORIES: dirname(folder), GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
    const { code, stderr } = await runGit({ cwd: folder, args, stdin: patch, env });
    if (code !== 0) {
      throw new VerbatimError("APPLY_MISMATCH", {
        message: `git could not apply the patch: ${stderr.trim()}`,
        where: path,
      });
    }
    const facts = lstatSync(place, { throwIfNoEntry: false });
    return facts === undefined ? null : { bytes: readFileSync(place), executable: (facts.mode & 0o100) !== 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
