import { chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AreaPorts } from "./ports.ts";

/** A file as a vector describes it. */
export interface FileSpec {
  readonly path: string;
  readonly type: "file" | "dir" | "symlink" | "hardlink";
  readonly mode?: string;
  readonly text?: string;
  readonly b64?: string;
  /** Where a symbolic link leads. */
  readonly target?: string;
  /** The file a hard link is another name of. */
  readonly to?: string;
  /** Nanoseconds as decimal digits, which do not fit a number. */
  readonly mtime_ns?: string;
}

export interface DefaultModes {
  readonly dir: string;
  readonly file: string;
}

export const PLAIN: DefaultModes = { dir: "0755", file: "0644" };

/** Does something in a fresh folder that is gone afterwards. */
export async function inFolder<T>(
  { disk }: AreaPorts,
  act: (folder: string) => Promise<T>,
  parent = tmpdir(),
): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(parent, "verbatim-vector-")));
  try {
    return await act(folder);
  } finally {
    await disk.discard(folder);
  }
}

/** Makes the files of a vector; modes are set last, whatever the umask of the caller is, and times after them. */
export async function makeFiles(
  ports: AreaPorts,
  root: string,
  files: readonly FileSpec[],
  defaults: DefaultModes,
): Promise<void> {
  const placeOf = ({ path }: FileSpec) => (path === "." ? root : join(root, path));
  const modes = new Map<string, string>();
  const makeParents = (place: string) => {
    for (let at = dirname(place); at.length >= root.length; at = dirname(at))
      modes.set(at, modes.get(at) ?? defaults.dir);
    mkdirSync(dirname(place), { recursive: true });
  };
  const isHardLink = ({ type }: FileSpec) => type === "hardlink";
  for (const file of [...files.filter((one) => !isHardLink(one)), ...files.filter(isHardLink)]) {
    const place = placeOf(file);
    if (place !== root) makeParents(place);
    if (file.type === "symlink") symlinkSync(file.target ?? "", place);
    else if (file.type === "hardlink") linkSync(join(root, file.to ?? file.target ?? ""), place);
    else {
      if (file.type === "dir") mkdirSync(place, { recursive: true });
      else writeFileSync(place, file.b64 === undefined ? (file.text ?? "") : Buffer.from(file.b64, "base64"));
      modes.set(place, file.mode ?? defaults[file.type]);
    }
  }
  // From the inside out: a closed folder is closed after what is in it.
  for (const [place, mode] of [...modes].sort(([a], [b]) => b.length - a.length)) {
    chmodSync(place, Number.parseInt(mode, 8));
  }
  for (const file of files) if (file.mtime_ns !== undefined) await setTime(ports, placeOf(file), file.mtime_ns);
}

/** Sets a time to the nanosecond, which Node would cut to microseconds. */
async function setTime({ tool }: AreaPorts, place: string, ns: string): Promise<void> {
  const seconds = BigInt(ns) / 1_000_000_000n;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -".000Z".length);
  await tool("touch", ["-h", "-d", `${whole}.${ns.slice(-9)}Z`, "--", place]);
}
