import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { isAbsence } from "../../core/errors/system.ts";

/** A longer path of a unix socket is cut off by the kernel, or refused. */
const MOST_BYTES = 107;

interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's state folder of Verbatim. */
  readonly state: string;
  readonly uid: number;
}

/** The folders that control sockets may lie in, in order of preference. */
export function listControlFolders({ env, state, uid }: Surroundings): string[] {
  const runtime = env["XDG_RUNTIME_DIR"];
  return [
    ...(runtime?.startsWith("/") === true ? [join(runtime, "verbatim")] : []),
    join(state, "s"),
    `/tmp/verbatim-${uid}`,
  ];
}

/** Where the control socket of a run lies: the first private folder whose path is short enough; null: there is none. */
export function placeControlSocket(surroundings: Surroundings, runDir: string): string | null {
  const name = createHash("sha256").update(runDir).digest("hex").slice(0, 16);
  for (const folder of listControlFolders(surroundings)) {
    const place = join(folder, name);
    if (Buffer.byteLength(place) <= MOST_BYTES && isPrivate(folder, surroundings.uid)) return place;
  }
  return null;
}

/** Makes the folder when it is missing. One that others own, may enter, or that is a link, is not used. */
function isPrivate(folder: string, uid: number): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = lstatSync(folder);
    return facts.isDirectory() && facts.uid === uid && (facts.mode & 0o077) === 0;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (isAbsence(thrown) || ["EACCES", "EPERM", "EROFS", "EEXIST", "ENOTDIR"].includes(code ?? "")) return false;
    throw thrown;
  }
}
