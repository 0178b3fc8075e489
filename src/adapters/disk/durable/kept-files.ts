import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode } from "../../../core/errors/system.ts";
import type { ReadyFile } from "../../../rooms/catalytic/ports.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../guarded/private-modes.ts";

/** One text that lies ready as a file. */
export interface KeptFile {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly ino: string;
  readonly mtime: string;
}

/** Everything that was made of a tree: texts as files, the rest as a value. */
export interface KeptFiles {
  readonly texts: Readonly<Record<string, KeptFile>>;
  readonly facts: unknown;
}

/** Another run may have written a text of this age and not yet said where it is. */
const YOUNG_MS = 60_000;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** What a file system says that cannot link, or not once more. */
const NO_LINK = ["EPERM", "EXDEV", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOENT", "EACCES", "ENOSYS"];

/** Writes a text into the folder under a name that is not taken, durable. */
export function writeKept(folder: string, name: string, bytes: Uint8Array, sha256: string): KeptFile {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const fd = openSync(join(folder, name), "wx", PRIVATE_FILE);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
    const { ino, mtimeNs } = fstatSync(fd, { bigint: true });
    return { name, sha256, size: bytes.length, ino: String(ino), mtime: String(mtimeNs) };
  } finally {
    closeSync(fd);
  }
}

/** Opens a text, or null when the file is gone or someone wrote to it. */
export function openKept(folder: string, kept: KeptFile): OpenedFile | null {
  const place = join(folder, kept.name);
  let fd: number;
  try {
    fd = openSync(place, READ);
  } catch (thrown) {
    if (["ENOENT", "ELOOP", "EACCES"].includes(errnoCode(thrown) ?? "")) return null;
    throw thrown;
  }
  if (isUntouched(fd, kept)) return new OpenedFile(place, fd, kept);
  closeSync(fd);
  return null;
}

function isUntouched(fd: number, kept: KeptFile): boolean {
  const { ino, mtimeNs, size } = fstatSync(fd, { bigint: true });
  return String(ino) === kept.ino && String(mtimeNs) === kept.mtime && Number(size) === kept.size;
}

/**
 * Forgets every text of the folder but those named, and those that someone may just be about to use. Runs that use the
 * others hold them by links of their own.
 */
export function forgetKept(folder: string, but: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    const place = join(folder, name);
    const facts = but.has(name) ? undefined : lstatSync(place, { throwIfNoEntry: false });
    if (facts !== undefined && Date.now() - facts.mtimeMs > YOUNG_MS) rmSync(place, { force: true });
  }
}

/** A text that lies ready. It stays readable when its name goes away. */
export class OpenedFile implements ReadyFile {
  readonly sha256: string;
  readonly #place: string;
  readonly #fd: number;
  readonly #kept: KeptFile;
  readonly size: number;
  /** Identity and last change of the files this one was put at. */
  readonly #put = new Map<string, string>();
  #isOpen = true;

  constructor(place: string, fd: number, kept: KeptFile) {
    this.#place = place;
    this.#fd = fd;
    this.#kept = kept;
    this.size = kept.size;
    this.sha256 = kept.sha256;
  }

  putAt(place: string): void {
    // Another name changes the time of the file, which must not hide what someone did to it before.
    const untouched = [...this.#put.keys()].filter((other) => this.isAt(other));
    this.#requireUntouched();
    if (!this.#tryLink(place)) this.#copyTo(place);
    for (const one of [...untouched, place]) this.#put.set(one, identify(one) ?? "");
  }

  isAt(place: string): boolean {
    const known = this.#put.get(place);
    return known !== undefined && known !== "" && identify(place) === known;
  }

  read(): Uint8Array {
    const bytes = Buffer.allocUnsafe(this.size);
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(this.#fd, bytes, at, bytes.length - at, at);
      if (count === 0) break;
      at += count;
    }
    this.#requireUntouched();
    return bytes;
  }

  /** Other runs share the file: whoever writes to it in one of them must not be believed in this one. */
  #requireUntouched(): void {
    if (isUntouched(this.#fd, this.#kept)) return;
    throw new VerbatimError("ARTIFACT_WRITE_FAILED", {
      message: "something wrote to a text that this run shares with other runs; it was not used",
      where: this.#place,
    });
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#fd);
    this.#isOpen = false;
  }

  /** A link costs nothing however long the text is; what it shares is never written to again. */
  #tryLink(place: string): boolean {
    try {
      linkSync(this.#place, place);
    } catch (thrown) {
      if (NO_LINK.includes(errnoCode(thrown) ?? "")) return false;
      throw thrown;
    }
    // The name may have gone to another file since this one was opened.
    if (lstatSync(place, { bigint: true }).ino === fstatSync(this.#fd, { bigint: true }).ino) return true;
    rmSync(place);
    return false;
  }

  #copyTo(place: string): void {
    const fd = openSync(place, "wx", PRIVATE_FILE);
    try {
      const bytes = this.read();
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

function identify(place: string): string | null {
  const facts = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeNs}:${facts.ctimeNs}`;
}
