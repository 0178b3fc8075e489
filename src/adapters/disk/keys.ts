import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, unlink } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { sortedByCodePoint } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode, toDiskError } from "../../core/errors/system.ts";
import type { SyncCrypto } from "../../core/ports.ts";
import { type SigningKey, toPublicKey, toSigningKey } from "../../core/trust/index.ts";
import { syncFolder } from "./durable/sync-folder.ts";

/** The public half of a key and where its files are. */
interface StoredKey {
  readonly name: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly public_file: string;
  /** Null when only the public half is there. */
  readonly private_file: string | null;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const PRIVATE_LABEL = "PRIVATE KEY-----";
const MAX_BYTES = 64 * 1024;
const OTHERS = 0o077;

/**
 * The user's key folder: `NAME.key` (PKCS#8 PEM, mode 0600) and `NAME.pub` (SPKI PEM). Where a key is asked for, it is
 * a name in the folder or else the path of a key file, relative to a base. No error ever carries key material.
 */
export class DiskKeys {
  readonly #folder: string;
  readonly #base: string;
  readonly #crypto: SyncCrypto;

  constructor(places: { readonly folder: string; readonly base: string }, crypto: SyncCrypto) {
    this.#folder = places.folder;
    this.#base = places.base;
    this.#crypto = crypto;
  }

  /** Makes a key pair: both files, or none with KEY_EXISTS when either is already there. */
  async create(name: string): Promise<StoredKey> {
    if (!NAME.test(name)) {
      throw new VerbatimError("USAGE", {
        message: "this is not a valid key name",
        fix: "Use 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.",
      });
    }
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    await makeFolder(this.#folder);
    const publicFile = this.#place(name, "pub");
    // The public half comes first, so that a crash in between leaves nothing that could sign unseen.
    await createFile(publicFile, publicKey.export({ format: "pem", type: "spki" }), 0o644, name);
    try {
      await createFile(this.#place(name, "key"), privateKey.export({ format: "pem", type: "pkcs8" }), 0o600, name);
    } catch (thrown) {
      await unlink(publicFile);
      throw thrown;
    }
    await syncFolder(this.#folder);
    return this.#describe(name, publicFile, publicKey);
  }

  /** All keys with a public half, by name. A folder that is not there has none. */
  async list(): Promise<StoredKey[]> {
    const files = await readdir(this.#folder).catch((thrown: unknown) => {
      if (errnoCode(thrown) === "ENOENT") return [];
      throw new VerbatimError("FILE_UNREADABLE", { where: this.#folder, cause: thrown });
    });
    const names = files.filter((file) => file.endsWith(".pub")).map((file) => file.slice(0, -".pub".length));
    const keys: StoredKey[] = [];
    for (const name of sortedByCodePoint(names.filter((one) => NAME.test(one)))) keys.push(await this.show(name));
    return keys;
  }

  /** The public half of a key. */
  async show(key: string): Promise<StoredKey> {
    const place = await this.#find(key, "pub");
    const { text, mode } = await readKeyFile(place, key);
    const publicKey = parseKey(place, () => createPublicKey(text));
    const name = place === this.#place(key, "pub") ? key : basename(place).replace(/\.(pub|key)$/, "");
    const shown = await this.#describe(name, place, publicKey);
    if (!text.includes(PRIVATE_LABEL)) return shown;
    // A private key file shows its public half too, but only if it could be used.
    checkMode(place, mode);
    return { ...shown, private_file: place };
  }

  /** A key that can sign: KEY_UNKNOWN, KEY_FILE_MODE or KEY_INVALID when it cannot. */
  async load(key: string): Promise<SigningKey> {
    const place = await this.#find(key, "key");
    const { text, mode } = await readKeyFile(place, key);
    checkMode(place, mode);
    return await this.parse(text, place);
  }

  /** A key that can sign, out of the text of its file. */
  parse(text: string, where: string): Promise<SigningKey> {
    const { d } = parseKey(where, () => createPrivateKey(text)).export({ format: "jwk" });
    return toSigningKey(this.#crypto, Buffer.from(d!, "base64url"));
  }

  #place(name: string, kind: "key" | "pub"): string {
    return join(this.#folder, `${name}.${kind}`);
  }

  async #find(key: string, kind: "key" | "pub"): Promise<string> {
    if (key.includes("\0")) throw unknownKey(key);
    const place = this.#place(key, kind);
    return NAME.test(key) && (await exists(place)) ? place : resolve(this.#base, key);
  }

  async #describe(name: string, file: string, key: KeyObject): Promise<StoredKey> {
    const { x } = key.export({ format: "jwk" });
    const { key_id, public_key } = await toPublicKey(this.#crypto, Buffer.from(x!, "base64url"));
    const privateFile = this.#place(name, "key");
    const isOwn = file === this.#place(name, "pub") && (await exists(privateFile));
    return { name, key_id, public_key, public_file: file, private_file: isOwn ? privateFile : null };
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code !== "EEXIST" && code !== "ENOTDIR") throw toDiskError(thrown, folder);
    const message = "there is something other than a folder where the key folder should be";
    throw new VerbatimError("FOLDER_READ_ONLY", {
      message,
      where: folder,
      fix: "Move it somewhere else.",
      cause: thrown,
    });
  }
}

/** Creates a file that must not exist, with exactly this mode whatever the umask, and makes it durable. */
async function createFile(place: string, content: string | Buffer, mode: number, name: string): Promise<void> {
  const file = await open(place, "wx", mode).catch((thrown: unknown) => {
    if (errnoCode(thrown) !== "EEXIST") throw toDiskError(thrown, place);
    throw new VerbatimError("KEY_EXISTS", { message: `a key named ${name} already exists`, where: place });
  });
  try {
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } catch (thrown) {
    await unlink(place);
    throw toDiskError(thrown, place);
  } finally {
    await file.close();
  }
}

async function exists(place: string): Promise<boolean> {
  try {
    await access(place, constants.F_OK);
    return true;
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new VerbatimError("FILE_UNREADABLE", { where: place, cause: thrown });
  }
}

/** Reads a key file; mode and bytes come from the same open file, so it cannot be swapped in between. */
async function readKeyFile(place: string, key: string): Promise<{ readonly text: string; readonly mode: number }> {
  // Without O_NONBLOCK a pipe of that name would wait for a writer.
  const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK).catch((thrown: unknown) => {
    const code = errnoCode(thrown);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") throw unknownKey(key);
    throw new VerbatimError("FILE_UNREADABLE", { where: place, cause: thrown });
  });
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > MAX_BYTES) throw invalidKey(place, "is not a key file");
    return { text: await file.readFile("utf8"), mode: facts.mode };
  } finally {
    await file.close();
  }
}

function checkMode(place: string, mode: number): void {
  if (process.platform === "win32" || (mode & OTHERS) === 0) return;
  throw new VerbatimError("KEY_FILE_MODE", {
    message: `the private key file has mode ${(mode & 0o777).toString(8)}: other users can access it`,
    where: place,
    fix: `chmod 600 '${place.replaceAll("'", "'\\''")}'`,
    details: { mode: (mode & 0o777).toString(8) },
  });
}

/** What the parser says about a file that is not a key may quote the file, so it is not passed on. */
function parseKey(place: string, parse: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = parse();
  } catch {
    throw invalidKey(place, "cannot be read as a PEM key without a passphrase");
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw invalidKey(place, `contains a key of type ${key.asymmetricKeyType}, not Ed25519`);
}

function invalidKey(place: string, why: string): VerbatimError {
  return new VerbatimError("KEY_INVALID", { message: `the file ${why}`, where: place });
}

function unknownKey(key: string): VerbatimError {
  return new VerbatimError("KEY_UNKNOWN", {
    message: "there is no key with that name and no key file at that path",
    where: key,
  });
}
