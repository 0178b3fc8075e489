import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { nodeCrypto } from "../../adapters/crypto/node-crypto.ts";
import { createLocalFiles } from "../../adapters/disk/guarded/local-files.ts";
import { DiskKeys } from "../../adapters/disk/keys.ts";
import { keysList, keysNew, keysPolicyCheck, keysPolicyInit, keysShow, type TrustPorts } from "./operations.ts";

async function* nothing(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}

function openKeys(): { readonly folder: string; readonly ports: TrustPorts } {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-trust-ops-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const keys = new DiskKeys({ folder: join(folder, "keys"), base: folder }, nodeCrypto);
  return { folder, ports: { keys, files: createLocalFiles(folder, nothing()), crypto: nodeCrypto } };
}

const NO_RULES = { require_commands: [], permit: [] };
const ALL = ["BUNDLE", "CHECKPOINT", "PROOF"] as const;

it("keys are made, listed and shown", async () => {
  const { ports } = openKeys();
  const mira = await keysNew.run(ports, { name: "mira" });
  expect(await keysShow.run(ports, { key: "mira" })).toEqual(mira);
  expect(await keysList.run(ports, {})).toEqual({ keys: [mira] });
});

it("a policy pins keys, for some scopes or for all, and can be read again", async () => {
  const { folder, ports } = openKeys();
  const [mira, ines] = [await keysNew.run(ports, { name: "mira" }), await keysNew.run(ports, { name: "ines" })];
  const pin = ({ key_id, public_key, name }: typeof mira, scopes: readonly string[]) => {
    return { key_id, public_key, name, scopes, enabled: true };
  };
  const made = await keysPolicyInit.run(ports, {
    file: "p.json",
    keys: ["mira", "ines"],
    scopes: ["PROOF", "BUNDLE"],
    threshold: 2,
    ...NO_RULES,
  });
  const keys = [pin(mira, ["BUNDLE", "PROOF"]), pin(ines, ["BUNDLE", "PROOF"])];
  expect(made).toEqual({ path: "p.json", threshold: 2, keys });
  expect(JSON.parse(readFileSync(join(folder, "p.json"), "utf8"))).toEqual({
    policy_version: "1.0.0",
    threshold: 2,
    keys,
  });
  expect(await keysPolicyCheck.run(ports, { file: "p.json" })).toEqual(made);
  const { scopes } = keysPolicyInit.input.shape;
  expect([[], ["PROOF"]].map((some) => scopes.safeParse(some).success)).toEqual([false, true]);
  expect(keysPolicyInit.input.parse({ file: "q.json", keys: ["mira"] })).toMatchObject({ scopes: ALL, threshold: 1 });
});

it.each([
  [1, 2, "a threshold of 2 cannot be met with 1 key"],
  [2, 3, "a threshold of 3 cannot be met with 2 keys"],
])("with %i keys a threshold of %i is refused, and nothing is written", async (count, threshold, message) => {
  const { folder, ports } = openKeys();
  const names = ["mira", "ines"].slice(0, count);
  for (const name of names) await keysNew.run(ports, { name });
  await expect(
    keysPolicyInit.run(ports, { file: "p.json", keys: names, scopes: [...ALL], threshold, ...NO_RULES }),
  ).rejects.toMatchObject({ code: "TRUST_THRESHOLD_UNREACHABLE", message });
  expect(existsSync(join(folder, "p.json"))).toBe(false);
});

it("one key pinned twice is refused, and a file that is there stays", async () => {
  const { folder, ports } = openKeys();
  await keysNew.run(ports, { name: "mira" });
  const input = { file: "p.json", keys: ["mira"], scopes: [...ALL], threshold: 1, ...NO_RULES };
  await expect(keysPolicyInit.run(ports, { ...input, keys: ["mira", "mira"], threshold: 2 })).rejects.toMatchObject({
    code: "TRUST_POLICY_INVALID",
  });
  writeFileSync(join(folder, "p.json"), "mine");
  await expect(keysPolicyInit.run(ports, input)).rejects.toMatchObject({ code: "FILE_EXISTS" });
  expect(readFileSync(join(folder, "p.json"), "utf8")).toBe("mine");
});

it("a policy needs a key, a scope and a threshold of at least one", () => {
  const good = { file: "p.json", keys: ["mira"] };
  expect(keysPolicyInit.input.safeParse(good).success).toBe(true);
  for (const wrong of [{ keys: [] }, { scopes: [] }, { threshold: 0 }, { threshold: 1.5 }, { scopes: ["ALL"] }]) {
    expect(keysPolicyInit.input.safeParse({ ...good, ...wrong }).success).toBe(false);
  }
});

it("a policy file may have one mebibyte", async () => {
  const { ports } = openKeys();
  const limits: number[] = [];
  const files = {
    ...ports.files,
    read: async (_: string, most: number) => {
      limits.push(most);
      return new TextEncoder().encode("{}");
    },
  };
  await expect(keysPolicyCheck.run({ ...ports, files }, { file: "p.json" })).rejects.toMatchObject({
    code: "TRUST_POLICY_INVALID",
  });
  expect(limits).toEqual([1_048_576]);
});
