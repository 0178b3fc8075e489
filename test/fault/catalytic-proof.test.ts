import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { DiskKeys } from "../../src/adapters/disk/keys.ts";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { formatCanonical, parseJson } from "../../src/core/canonical/index.ts";
import { toSigningKey } from "../../src/core/trust/key.ts";
import type { RoomPorts } from "../../src/rooms/catalytic/operations/ports.ts";
import { catalyticVerify } from "../../src/rooms/catalytic/operations/records.ts";
import { proofHash } from "../../src/rooms/catalytic/record/proof.ts";
import { listStrays, readRecord } from "../../src/rooms/catalytic/record/record-files.ts";
import { beginLook } from "../../src/rooms/catalytic/tree/tree-now.ts";
import { type TreeNow, type VerifyOptions, verifyRun } from "../../src/rooms/catalytic/verify/verify.ts";
import { makeCatalyticRepo, openCatalytic, type TestRun, toJobSpec } from "../support/catalytic-repo.ts";

/** Three real runs: one accepted, one failed, one that wrote outside; every forgery is made on a copy of their records. */
let base: string;
let runs: string;
let room: TestRun;
const seed = new Uint8Array(32).fill(7);
const ZEROS = "0".repeat(64);
const OPTIONS: VerifyOptions = { pins: [], policy_sha256: null, tree: "skip", strict_tree: false };

beforeAll(async () => {
  const repo = makeCatalyticRepo();
  base = repo.base;
  runs = join(repo.root, ".verbatim/runs");
  const key = await toSigningKey(nodeCrypto, seed);
  room = openCatalytic(base, repo.root, (ports) => ({ ...ports, signingKey: async () => key }));
  const outputs = { durable_paths: [".verbatim/out/new.txt", ".verbatim/out/pack/"] };
  const script =
    "echo x > .verbatim/scratch/d/a.txt; echo 1 > .verbatim/out/new.txt; echo 2 > .verbatim/out/pack/f; ln -s f .verbatim/out/pack/l";
  const good = await room.run(toJobSpec(["sh", "-c", script], { run_id: "good", outputs, inputs: ["src"] }), {
    sign: "key",
  });
  expect(good).toMatchObject({ accepted: true, status: "succeeded" });
  const bad = await room.run(toJobSpec(["sh", "-c", "exit 3"], { run_id: "bad" }));
  expect(bad).toMatchObject({ accepted: false, condition: "COMMAND_FAILED", exit_code: 3 });
  const loud = await room.run(toJobSpec(["sh", "-c", "echo x > src/planted"], { run_id: "loud", guard: "audit" }));
  expect(loud).toMatchObject({ accepted: false, condition: "GUARD_VIOLATION" });
});

afterAll(async () => {
  await room.close();
  await runDisk.discard(base);
});

async function judge(name: string, forge: (folder: string) => void, options = OPTIONS) {
  const folder = join(base, "forged", name);
  rmSync(join(base, "forged"), { recursive: true, force: true });
  mkdirSync(join(base, "forged"));
  cpSync(join(runs, name), folder, { recursive: true });
  forge(folder);
  const shown = readdirSync(join(base, "forged"), { withFileTypes: true }).find((one) => one.isDirectory())!.name;
  const record = join(base, "forged", shown);
  const [files, strays] = [readRecord(runDisk, record), listStrays(runDisk, record)];
  return verifyRun(nodeCrypto, { name: shown, files, strays }, options);
}

/** Edits a canonical artifact and, like a careful forger, gives the proof the new hash of the file and of itself. */
function edit(folder: string, file: string, change: (value: never) => void, bind: boolean): void {
  const value = parseJson(readFileSync(join(folder, file))) as never;
  change(value);
  const text = `${formatCanonical(value)}\n`;
  writeFileSync(join(folder, file), text);
  if (bind && file !== "PROOF.json") rebind(folder, file, text);
}

function rebind(folder: string, file: string, text: string): void {
  const proof = parseJson(readFileSync(join(folder, "PROOF.json"))) as {
    artifacts: Record<string, string>;
    proof_hash: string;
  };
  proof.artifacts[file] = nodeCrypto.sha256(text);
  proof.proof_hash = proofHash(nodeCrypto, proof);
  writeFileSync(join(folder, "PROOF.json"), `${formatCanonical(proof)}\n`);
}

const codes = (result: { errors: readonly { code: string }[] }) =>
  [...new Set(result.errors.map(({ code }) => code))].sort();

describe("a genuine record", () => {
  it("of a good run is accepted, and its signature by a pinned key too", async () => {
    expect(await judge("good", () => undefined)).toMatchObject({
      accepted: true,
      genuine: true,
      signature: { state: "unpinned" },
      errors: [],
    });
    const { public_key } = await toSigningKey(nodeCrypto, seed);
    expect(await judge("good", () => undefined, { ...OPTIONS, pins: [public_key] })).toMatchObject({
      accepted: true,
      signature: { state: "pinned" },
    });
  });

  it("is accepted beside a file of the desktop, which is told", async () => {
    const result = await judge("good", (at) => writeFileSync(join(at, ".DS_Store"), ""));
    expect([result.accepted, result.warnings.map(({ code }) => code)]).toEqual([true, ["STRAY_FILE"]]);
  });

  it("of a failed run is genuine and not accepted", async () => {
    const result = await judge("bad", () => undefined);
    expect(result).toMatchObject({ accepted: false, genuine: true, verified: false });
    expect(codes(result)).toEqual(["NOT_VERIFIED"]);
  });
});

describe("a forged record is refused:", () => {
  it.each<[string, string, (folder: string) => void, string[]]>([
    [
      "the boolean edited",
      "bad",
      (at) =>
        edit(
          at,
          "PROOF.json",
          (proof: { restoration_result: { verified: boolean } }) => void (proof.restoration_result.verified = true),
          false,
        ),
      ["PROOF_HASH_MISMATCH"],
    ],
    [
      "the boolean edited and the proof hashed anew",
      "bad",
      (at) => {
        edit(
          at,
          "PROOF.json",
          (proof: { restoration_result: { verified: boolean; condition: string } }) => {
            proof.restoration_result.verified = true;
            proof.restoration_result.condition = "RESTORED_IDENTICAL";
          },
          false,
        );
        rebind(at, "STATUS.json", readFileSync(join(at, "STATUS.json"), "utf8"));
      },
      ["VERDICT_MISMATCH"],
    ],
    [
      "the exit code edited everywhere in the proof",
      "bad",
      (at) => {
        edit(
          at,
          "PROOF.json",
          (proof: {
            command_result: { exit_code: number };
            restoration_result: { verified: boolean; condition: string };
          }) => {
            proof.command_result.exit_code = 0;
            proof.restoration_result = { ...proof.restoration_result, verified: true, condition: "RESTORED_IDENTICAL" };
          },
          false,
        );
        rebind(at, "STATUS.json", readFileSync(join(at, "STATUS.json"), "utf8"));
      },
      ["CROSS_CHECK_MISMATCH"],
    ],
    [
      "a manifest edited",
      "good",
      (at) =>
        edit(
          at,
          "PRE_MANIFEST.json",
          (m: Record<string, Record<string, string>>) => void (m[".verbatim/scratch/d"]!["a.txt"] = "0".repeat(64)),
          false,
        ),
      ["ARTIFACT_HASH_MISMATCH"],
    ],
    [
      "a manifest edited and bound anew",
      "good",
      (at) =>
        edit(
          at,
          "PRE_MANIFEST.json",
          (m: Record<string, Record<string, string>>) => void (m[".verbatim/scratch/d"]!["a.txt"] = "0".repeat(64)),
          true,
        ),
      ["CROSS_CHECK_MISMATCH", "MANIFEST_MISMATCH"],
    ],
    [
      "both trees edited and bound anew",
      "good",
      (at) => {
        for (const file of ["PRE_TREE.json", "POST_TREE.json"])
          edit(
            at,
            file,
            (t: Record<string, Record<string, { mode: string }>>) =>
              void (t[".verbatim/scratch/d"]!["run.sh"]!.mode = "0777"),
            true,
          );
      },
      ["ROOT_MISMATCH"],
    ],
    [
      "the proof of another run",
      "bad",
      (at) => cpSync(join(runs, "good/PROOF.json"), join(at, "PROOF.json")),
      ["ARTIFACT_HASH_MISMATCH", "RUN_ID_MISMATCH"],
    ],
    ["the directory renamed", "good", (at) => renameSync(at, join(at, "../better")), ["RUN_ID_MISMATCH"]],
    [
      "a ledger line edited",
      "good",
      (at) => {
        const text = readFileSync(join(at, "LEDGER.jsonl"), "utf8").replace('"actor":"library"', '"actor":"cli"');
        writeFileSync(join(at, "LEDGER.jsonl"), text);
        rebind(at, "LEDGER.jsonl", text);
      },
      ["LEDGER_CHAIN_BROKEN"],
    ],
    [
      "a ledger line removed",
      "good",
      (at) => {
        const lines = readFileSync(join(at, "LEDGER.jsonl"), "utf8").split("\n");
        const text = [...lines.slice(0, 3), ...lines.slice(4)].join("\n");
        writeFileSync(join(at, "LEDGER.jsonl"), text);
        rebind(at, "LEDGER.jsonl", text);
      },
      ["LEDGER_CHAIN_BROKEN"],
    ],
    ["an artifact removed", "good", (at) => rmSync(join(at, "OUTPUTS.json")), ["ARTIFACT_MISSING"]],
    [
      "an output added to the list",
      "good",
      (at) =>
        edit(
          at,
          "OUTPUTS.json",
          (list: object[]) => void list.push({ path: "README.md", type: "dir", mode: "0755" }),
          true,
        ),
      ["CROSS_CHECK_MISMATCH", "OUTPUTS_INCONSISTENT"],
    ],
    [
      "a forbidden root taken out of the policy",
      "good",
      (at) =>
        edit(
          at,
          "POLICY.json",
          (policy: { forbidden_roots: string[] }) => void policy.forbidden_roots.splice(0, 1),
          true,
        ),
      ["POLICY_WEAKENED"],
    ],
    [
      "a domain added to the JobSpec",
      "good",
      (at) =>
        edit(
          at,
          "JOBSPEC.json",
          (spec: { catalytic_domains: string[] }) => void spec.catalytic_domains.push("src"),
          true,
        ),
      ["CROSS_CHECK_MISMATCH", "PREFLIGHT_VIOLATION"],
    ],
    [
      "a space after the JSON",
      "good",
      (at) => appendFileSync(join(at, "PROOF.json"), " "),
      ["ARTIFACT_MALFORMED", "SIGNATURE_INVALID"],
    ],
    [
      "a difference of the trees invented and bound anew",
      "good",
      (at) =>
        edit(
          at,
          "RESTORE_DIFF.json",
          (diff: Record<string, { added: object }>) =>
            void (diff[".verbatim/scratch/d"]!.added = { "a.txt": "0".repeat(64) }),
          true,
        ),
      ["CROSS_CHECK_MISMATCH", "DIFF_MISMATCH"],
    ],
    [
      "an input that was never declared",
      "good",
      (at) =>
        edit(at, "INPUT_HASHES.json", (hashes: Record<string, string>) => void (hashes["srcs/app.txt"] = ZEROS), true),
      ["CROSS_CHECK_MISMATCH"],
    ],
    [
      "a violation put down to another file",
      "loud",
      (at) => {
        edit(
          at,
          "PROOF.json",
          (proof: { violations: { path: string }[] }) => void (proof.violations[0]!.path = "src/other.txt"),
          false,
        );
        rebind(at, "STATUS.json", readFileSync(join(at, "STATUS.json"), "utf8"));
      },
      ["CROSS_CHECK_MISMATCH"],
    ],
    ["a file planted", "good", (at) => writeFileSync(join(at, "NOTES.md"), "hello\n"), ["ARTIFACT_UNBOUND"]],
    ["a folder planted", "good", (at) => mkdirSync(join(at, "notes")), ["ARTIFACT_UNBOUND"]],
    ["a link planted", "good", (at) => symlinkSync("PROOF.json", join(at, "proof")), ["ARTIFACT_UNBOUND"]],
    ["a file in the making", "good", (at) => writeFileSync(join(at, ".tmp-1"), ""), ["ARTIFACT_UNBOUND"]],
    [
      "an artifact that is a link",
      "good",
      (at) => {
        renameSync(join(at, "STATUS.json"), join(at, "../status"));
        symlinkSync("../status", join(at, "STATUS.json"));
      },
      ["ARTIFACT_MISSING", "ARTIFACT_UNBOUND"],
    ],
    [
      "a domain taken out of a state of the proof",
      "good",
      (at) => {
        edit(at, "PROOF.json", (proof: { pre_state: object }) => void (proof.pre_state = {}), false);
        rebind(at, "STATUS.json", readFileSync(join(at, "STATUS.json"), "utf8"));
      },
      ["ROOT_MISMATCH"],
    ],
    [
      "a proof that only says yes",
      "bad",
      (at) => writeFileSync(join(at, "PROOF.json"), '{"restoration_result":{"verified":true}}\n'),
      ["ARTIFACT_MALFORMED"],
    ],
  ])("%s", async (_, run, forge, expected) => {
    const result = await judge(run, forge);
    expect(result.accepted).toBe(false);
    expect(result.genuine).toBe(false);
    const found = codes(result).filter((code) => !code.startsWith("SIGNATURE") || expected.includes(code));
    expect(found).toEqual(expected);
  });

  it("every file, at every byte that is flipped, breaks the record", async () => {
    for (const file of readdirSync(join(runs, "good"))) {
      const size = readFileSync(join(runs, "good", file)).length;
      for (const at of [0, Math.floor(size / 2), size - 1]) {
        if (size === 0) continue;
        const result = await judge("good", (folder) => {
          const bytes = readFileSync(join(folder, file));
          bytes[at]! ^= 1;
          writeFileSync(join(folder, file), bytes);
        });
        expect(`${file}@${at} ${result.accepted}`).toBe(`${file}@${at} false`);
      }
    }
  });
});

describe("the policy that was asked for", () => {
  it("is the one of the record, or the record is refused", async () => {
    const policy_sha256 = nodeCrypto.sha256(readFileSync(join(runs, "good/POLICY.json"), "utf8"));
    expect(await judge("good", () => undefined, { ...OPTIONS, policy_sha256 })).toMatchObject({ accepted: true });
    const other = await judge("good", () => undefined, { ...OPTIONS, policy_sha256: ZEROS });
    expect([other.accepted, codes(other)]).toEqual([false, ["POLICY_MISMATCH"]]);
  });
});

describe("the tree as it is now", () => {
  const D = ".verbatim/scratch/d";
  const look = (domains: TreeNow["domains"]) => ({
    ...OPTIONS,
    tree: () => ({ outputs: new Map<string, string>(), domains }),
  });

  it("is another one when a domain cannot be read, or is not there", async () => {
    for (const domains of [new Map([[D, null]]), new Map<string, null>()]) {
      const result = await judge("bad", () => undefined, look(domains));
      expect([result.tree, result.warnings.map(({ code }) => code)]).toEqual(["drifted", ["DOMAIN_DRIFTED"]]);
    }
  });

  it("is not read where a forged JobSpec names something that is no path in the root", async () => {
    const record = join(base, "odd");
    cpSync(join(runs, "good"), record, { recursive: true });
    writeFileSync(join(record, "JOBSPEC.json"), '{"catalytic_domains":[5,null,"../..","/etc",""]}');
    const now = await beginLook({ disk: runDisk, crypto: nodeCrypto }, { name: "good", record, root: base })!();
    expect([...now.domains]).toEqual([]);
  });
});

describe("a folder that holds no record", () => {
  it("is no run, and no forged one either", async () => {
    const ports = { ...room.ports, folder: base, places: () => room.places } as unknown as RoomPorts;
    const asked = catalyticVerify.input.parse({ run: "repo/src" });
    await expect(catalyticVerify.run(ports, asked)).rejects.toMatchObject({ code: "RUN_NOT_FOUND", exit: 2 });
  });
});

describe("a signature", () => {
  it("by something that is no key is a mistake of the caller", async () => {
    const keys = new DiskKeys({ folder: join(base, "keys"), base }, nodeCrypto);
    const publicKey = async (key: string) => (await keys.show(key)).public_key;
    const ports = { ...room.ports, publicKey, folder: base, places: () => room.places } as unknown as RoomPorts;
    const asked = catalyticVerify.input.parse({ run: "good", pin: ["A".repeat(64)] });
    await expect(catalyticVerify.run(ports, asked)).rejects.toMatchObject({ code: "KEY_UNKNOWN", exit: 2 });
  });

  const other = "0".repeat(64);

  it("by a key that is not pinned is untrusted, and none at all is missing", async () => {
    expect(codes(await judge("good", () => undefined, { ...OPTIONS, pins: [other] }))).toEqual(["SIGNATURE_UNTRUSTED"]);
    expect(codes(await judge("bad", () => undefined, { ...OPTIONS, pins: [other] }))).toEqual(["SIGNATURE_MISSING"]);
  });
});
