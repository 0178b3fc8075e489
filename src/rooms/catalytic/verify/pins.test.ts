import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { LocalFiles } from "../../../core/ports.ts";
import { gatherPins } from "./pins.ts";

const PUBLIC = ["11".repeat(32), "22".repeat(32)] as const;
// SHA-256 of 32 bytes 0x11 and of 32 bytes 0x22.
const IDS = [
  "02d449a31fbb267c8f352e9968a79e3e5fc95c1bbeaa502fd6454ebde5a4bedc",
  "9f72ea0cf49536e3c66c787f705186df9a4378083753ae9536d65b3ad7fcddc4",
];

function pin(asked: { pin?: string[]; threshold?: number; scopes?: string[][]; enabled?: boolean }) {
  const keys = (asked.scopes ?? []).map((scopes, i) => {
    return { key_id: IDS[i], public_key: PUBLIC[i], name: `k${i}`, scopes, enabled: asked.enabled ?? true };
  });
  const policy = { policy_version: "1.0.0", threshold: asked.threshold ?? 1, keys };
  const files = { read: async () => encodeUtf8(JSON.stringify(policy)) } as unknown as LocalFiles;
  const ports = { crypto: nodeCrypto, files, publicKey: async (key: string) => (key === "ana" ? PUBLIC[1] : "none") };
  const trust = asked.scopes === undefined ? {} : { trust: "trust.json" };
  return gatherPins(ports, { pin: asked.pin ?? [], ...trust });
}

describe("the keys a proof must be signed with", () => {
  it("are none unless somebody asks", async () => {
    expect(await pin({})).toEqual([]);
  });

  it("are named in hex, or as other verbs name keys", async () => {
    expect(await pin({ pin: [PUBLIC[0], "ana"] })).toEqual(PUBLIC);
  });

  it("are those a policy enables for proofs", async () => {
    expect(await pin({ scopes: [["BUNDLE"], ["PROOF", "BUNDLE"]] })).toEqual([PUBLIC[1]]);
  });

  it.each([
    ["an empty policy", {}, [], "TRUST_NO_KEYS"],
    ["a policy for other things", {}, [["BUNDLE"]], "TRUST_NO_KEYS"],
    ["a policy without enabled keys", { enabled: false }, [["PROOF"]], "TRUST_NO_KEYS"],
    ["more keys than there are", { threshold: 2 }, [["PROOF"], ["BUNDLE"]], "TRUST_THRESHOLD_UNREACHABLE"],
    ["more signatures than a proof has", { threshold: 2 }, [["PROOF"], ["PROOF"]], "TRUST_THRESHOLD_NOT_MET"],
  ])("never become none through %s", async (_, rest, scopes, code) => {
    await expect(pin({ ...rest, scopes })).rejects.toMatchObject({ code, where: "trust.json" });
    await expect(pin({ ...rest, scopes, pin: [PUBLIC[0]] })).rejects.toMatchObject({ code, exit: 1 });
  });

  it("name the file of a policy that is none", async () => {
    await expect(pin({ scopes: [[]] })).rejects.toMatchObject({
      code: "TRUST_POLICY_INVALID",
      where: "trust.json#/keys/0/scopes",
    });
  });
});
