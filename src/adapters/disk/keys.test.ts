import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { diskFolder } from "../../../test/support/memory-folder.ts";
import { toHex } from "../../core/hex.ts";
import { nodeCrypto } from "../crypto/node-crypto.ts";
import { DiskKeys } from "./keys.ts";

let base: string;
let folder: string;
const keys = () => new DiskKeys({ folder, base }, nodeCrypto);
const refusal = (code: string) => expect.objectContaining({ code });
const modeOf = (file: string) => statSync(file).mode & 0o777;
const needsModes = (context: TestContext) =>
  context.skip(process.platform === "win32", "files have no modes on Windows");

beforeEach(() => {
  base = mkdtempSync(join(diskFolder(), "verbatim-keys-"));
  folder = join(base, "config", "keys");
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("a new key", () => {
  it("is a PKCS#8 and an SPKI file that others can read with their own tools", async () => {
    const key = await keys().create("ci");
    const privateKey = createPrivateKey(readFileSync(join(folder, "ci.key")));
    const publicKey = createPublicKey(readFileSync(join(folder, "ci.pub")));
    const signature = sign(null, Buffer.from("hello"), privateKey);
    expect(verify(null, Buffer.from("hello"), publicKey, signature)).toBe(true);
    expect(key).toEqual({
      name: "ci",
      key_id: nodeCrypto.sha256(publicKey.export({ format: "der", type: "spki" }).subarray(-32)),
      public_key: toHex(publicKey.export({ format: "der", type: "spki" }).subarray(-32)),
      public_file: join(folder, "ci.pub"),
      private_file: join(folder, "ci.key"),
    });
  });

  it("keeps the private half to its owner whatever the umask", async (context) => {
    needsModes(context);
    for (const [name, umask] of [
      ["open", 0o000],
      ["usual", 0o022],
      ["closed", 0o777],
    ] as const) {
      const before = process.umask(umask);
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        chmodSync(folder, 0o700);
        chmodSync(join(base, "config"), 0o700);
        await keys().create(name);
      } finally {
        process.umask(before);
      }
      expect(modeOf(join(folder, `${name}.key`))).toBe(0o600);
      expect(modeOf(join(folder, `${name}.pub`))).toBe(0o644);
    }
  });

  it("makes the folder for its owner only", async (context) => {
    needsModes(context);
    await keys().create("ci");
    expect(modeOf(folder)).toBe(0o700);
  });

  it("is never written over another: both files or none", async () => {
    const first = await keys().create("ci");
    const bytes = readFileSync(join(folder, "ci.key"), "utf8");
    await expect(keys().create("ci")).rejects.toEqual(refusal("KEY_EXISTS"));
    expect(readFileSync(join(folder, "ci.key"), "utf8")).toBe(bytes);
    expect(await keys().show("ci")).toEqual(first);
  });

  it.each(["key", "pub"])("leaves nothing behind when only the .%s file was there", async (kind) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `ci.${kind}`), "mine");
    await expect(keys().create("ci")).rejects.toEqual(refusal("KEY_EXISTS"));
    expect(readdirSync(folder)).toEqual([`ci.${kind}`]);
    expect(readFileSync(join(folder, `ci.${kind}`), "utf8")).toBe("mine");
  });

  it("is made once when it is asked for many times at once", async () => {
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => keys().create("ci")));
    const won = made.filter((one) => one.status === "fulfilled");
    expect(won).toHaveLength(1);
    expect(await keys().show("ci")).toEqual(won[0]!.value);
    expect((await keys().load("ci")).key_id).toBe(won[0]!.value.key_id);
  });

  it.each(["", ".", "..", ".hidden", "-x", "a/b", "../up", "a b", "a\n", "é", "a".repeat(65), "a\0"])(
    "cannot be named %j",
    async (name) => {
      await expect(keys().create(name)).rejects.toEqual(refusal("USAGE"));
      expect(existsSync(folder)).toBe(false);
    },
  );

  it("can have a name of 64 characters with dots, dashes and underscores", async () => {
    const name = `0a.B-c_${"z".repeat(57)}`;
    expect((await keys().create(name)).name).toBe(name);
  });

  it("says when something else is where the folder should be", async () => {
    writeFileSync(join(base, "config"), "a file");
    await expect(keys().create("ci")).rejects.toEqual(refusal("FOLDER_READ_ONLY"));
    writeFileSync(join(base, "file"), "a file");
    folder = join(base, "file");
    await expect(keys().create("ci")).rejects.toEqual(refusal("FOLDER_READ_ONLY"));
  });

  it("says when the folder cannot be written", async (context) => {
    needsModes(context);
    context.skip(process.getuid?.() === 0, "root may write anywhere");
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o500);
    await expect(keys().create("ci")).rejects.toEqual(refusal("FOLDER_READ_ONLY"));
  });
});

describe("listing and showing keys", () => {
  it("gives keys by code point, and none for a folder that is not there", async () => {
    expect(await keys().list()).toEqual([]);
    const made = [];
    for (const name of ["b", "B", "a"]) made.push(await keys().create(name));
    writeFileSync(join(folder, "notes.txt"), "not a key");
    expect(await keys().list()).toEqual([made[1], made[2], made[0]]);
  });

  it("says when only the public half is there", async () => {
    const made = await keys().create("ci");
    rmSync(join(folder, "ci.key"));
    expect(await keys().show("ci")).toEqual({ ...made, private_file: null });
  });

  it("shows a public key file by its path, relative to the base", async () => {
    const made = await keys().create("ci");
    writeFileSync(join(base, "friend.pub"), readFileSync(join(folder, "ci.pub")));
    expect(await keys().show("friend.pub")).toEqual({
      ...made,
      name: "friend",
      public_file: join(base, "friend.pub"),
      private_file: null,
    });
  });

  it("shows the public half of a private key file only while it is private", async (context) => {
    needsModes(context);
    const made = await keys().create("ci");
    const file = join(folder, "ci.key");
    expect((await keys().show(file)).key_id).toBe(made.key_id);
    chmodSync(file, 0o644);
    await expect(keys().show(file)).rejects.toEqual(refusal("KEY_FILE_MODE"));
  });

  it("refuses what is not an Ed25519 public key", async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    writeFileSync(join(base, "ec.pub"), publicKey.export({ format: "pem", type: "spki" }));
    writeFileSync(join(base, "text.pub"), "hello");
    await expect(keys().show("ec.pub")).rejects.toEqual(refusal("KEY_INVALID"));
    await expect(keys().show("text.pub")).rejects.toEqual(refusal("KEY_INVALID"));
    await expect(keys().show("nobody")).rejects.toEqual(refusal("KEY_UNKNOWN"));
  });
});

describe("loading a private key", () => {
  it("gives a key that signs, by name and by path", async () => {
    const made = await keys().create("ci");
    const message = Buffer.from("hello");
    for (const key of ["ci", join(folder, "ci.key"), "config/keys/ci.key"]) {
      const loaded = await keys().load(key);
      expect(loaded).toMatchObject({ key_id: made.key_id, public_key: made.public_key });
      const publicKey = createPublicKey(readFileSync(join(folder, "ci.pub")));
      expect(verify(null, message, publicKey, await loaded.sign(message))).toBe(true);
    }
  });

  it("prefers a name in the folder to a file of that name", async () => {
    const made = await keys().create("ci");
    writeFileSync(join(base, "ci"), "something else");
    expect((await keys().load("ci")).key_id).toBe(made.key_id);
  });

  it.each(["640", "604", "660", "644", "610"])("refuses a file with mode %s and names the chmod", async (mode) => {
    await keys().create("ci");
    const file = join(folder, "ci.key");
    chmodSync(file, Number.parseInt(mode, 8));
    const fix = `chmod 600 '${file}'`;
    await expect(keys().load("ci")).rejects.toMatchObject({ code: "KEY_FILE_MODE", where: file, fix });
    chmodSync(file, 0o400);
    expect((await keys().load("ci")).key_id).toMatch(/^[0-9a-f]{64}$/);
  });

  it("does not know a name, a path or a text that leads to no file", async () => {
    for (const key of ["nobody", "no/such/file", "a\0b", "x".repeat(5000), "config/keys/../none"])
      await expect(keys().load(key)).rejects.toEqual(refusal("KEY_UNKNOWN"));
  });

  it("refuses other kinds of keys, locked keys, other files and folders", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
    const locked = generateKeyPairSync("ed25519").privateKey;
    const x25519 = generateKeyPairSync("x25519").privateKey;
    const files = {
      rsa: rsa.export({ format: "pem", type: "pkcs8" }),
      x25519: x25519.export({ format: "pem", type: "pkcs8" }),
      locked: locked.export({ format: "pem", type: "pkcs8", cipher: "aes-128-cbc", passphrase: "word" }),
      text: "hello",
      empty: "",
      large: "x".repeat(65 * 1024),
    };
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(base, name), content, { mode: 0o600 });
      await expect(keys().load(join(base, name)), name).rejects.toEqual(refusal("KEY_INVALID"));
    }
    await expect(keys().load(base)).rejects.toEqual(refusal("KEY_INVALID"));
  });

  it("follows a link but looks at the mode of the file it leads to", async (context) => {
    needsModes(context);
    const made = await keys().create("ci");
    symlinkSync(join(folder, "ci.key"), join(base, "link"));
    expect((await keys().load("link")).key_id).toBe(made.key_id);
    chmodSync(join(folder, "ci.key"), 0o644);
    await expect(keys().load("link")).rejects.toEqual(refusal("KEY_FILE_MODE"));
  });

  it("never shows key material: not in errors, not in what it gives", async () => {
    await keys().create("ci");
    const pem = readFileSync(join(folder, "ci.key"), "utf8");
    const secret = pem.split("\n")[1]!;
    const seed = createPrivateKey(pem).export({ format: "jwk" }).d!;
    const loaded = await keys().load("ci");
    writeFileSync(join(folder, "ci.key"), pem.replace(secret, `${secret.slice(0, -4)}####`));
    const thrown: unknown = await keys()
      .load("ci")
      .catch((error: unknown) => error);
    expect(thrown).toEqual(refusal("KEY_INVALID"));
    for (const shown of [
      inspect(loaded, { depth: 9, showHidden: true }),
      JSON.stringify(loaded),
      inspect(thrown, { depth: 9 }),
    ]) {
      expect(shown).not.toContain(secret.slice(0, 40));
      expect(shown).not.toContain(seed.slice(0, 20));
      expect(shown).not.toContain(toHex(Buffer.from(seed, "base64url")));
    }
  });
});
