// What binds a record together: every file, its hash, its name, one signature, and the tree as it is now.
import { describe, expect, it } from "vitest";
import {
  DOMAIN,
  forgeRecord,
  listProblems,
  OTHER_DOMAIN,
  OUTPUT,
  readFailedRecord,
  verifyFiles,
} from "../../../../test/support/forged-record.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { type Envelope, signEnvelope, toEnvelopeFile } from "../../../core/trust/dsse.ts";
import { toSigningKey } from "../../../core/trust/key.ts";
import { PROOF_PAYLOAD_TYPE } from "../contracts/constants.ts";

const genuine = forgeRecord(() => undefined);
const textOf = (file: string) => Buffer.from(genuine.get(file)!).toString();
const withFile = (name: string, text: string) => new Map([...genuine, [name, Buffer.from(text)]]);
const without = (name: string) => new Map([...genuine].filter(([file]) => file !== name));

describe("the files of a record", () => {
  it.each<[string, ReadonlyMap<string, Uint8Array>, string[]]>([
    ["no proof", without("PROOF.json"), ["PROOF_MISSING PROOF.json"]],
    ["a proof that is no JSON", withFile("PROOF.json", "{"), ["ARTIFACT_MALFORMED PROOF.json"]],
    [
      "a proof that is no text",
      new Map([...genuine, ["PROOF.json", Uint8Array.of(0x22, 0xff, 0x22)]]),
      ["ARTIFACT_MALFORMED PROOF.json"],
    ],
    [
      "a proof with a space more",
      withFile("PROOF.json", textOf("PROOF.json").replace("{", "{ ")),
      ["ARTIFACT_MALFORMED PROOF.json"],
    ],
    [
      "a proof without its last line feed",
      withFile("PROOF.json", textOf("PROOF.json").trimEnd()),
      ["ARTIFACT_MALFORMED PROOF.json"],
    ],
    [
      "a proof with another hash",
      withFile(
        "PROOF.json",
        textOf("PROOF.json").replace(
          /"proof_hash":"./,
          (text) => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`,
        ),
      ),
      ["PROOF_HASH_MISMATCH PROOF.json"],
    ],
    ["a log that is missing", without("STDERR.log"), ["ARTIFACT_MISSING STDERR.log"]],
    ["a log that was edited", withFile("STDOUT.log", "other\n"), ["ARTIFACT_HASH_MISMATCH STDOUT.log"]],
    ["a file more", withFile("NOTES.txt", ""), ["ARTIFACT_UNBOUND NOTES.txt"]],
    ["a JSON file more, whatever it holds", withFile("NOTES.json", "{"), ["ARTIFACT_UNBOUND NOTES.json"]],
    ["a file in quarantine, which no proof binds", withFile("quarantine/x", ""), []],
    ["a file that only begins like that", withFile("quarantined", ""), ["ARTIFACT_UNBOUND quarantined"]],
  ])("%s", async (_, files, expected) => {
    expect(listProblems(await verifyFiles(files))).toEqual(expected);
  });

  it("that are written in another way are refused though their hashes fit", async () => {
    const files = forgeRecord((parts) =>
      parts.write("RUN_INFO.json", `${JSON.stringify(parts.get("RUN_INFO.json"), null, 1)}\n`),
    );
    expect(listProblems(await verifyFiles(files))).toEqual(["ARTIFACT_MALFORMED RUN_INFO.json"]);
  });

  it("that the proof does not bind are refused, and those it binds and nobody has", async () => {
    const unbound = forgeRecord((parts) => parts.set("PROOF.json", ["artifacts", "STDOUT.log"], undefined));
    expect(listProblems(await verifyFiles(unbound))).toEqual(["ARTIFACT_UNBOUND STDOUT.log"]);
    const bound = forgeRecord((parts) => parts.set("PROOF.json", ["artifacts", "QUARANTINE.json"], "0".repeat(64)));
    expect(listProblems(await verifyFiles(bound))).toEqual(["ARTIFACT_MISSING QUARANTINE.json"]);
  });

  it("that must be there are missed though nothing binds them, and what they hold is looked at", async () => {
    const unbound = forgeRecord((parts) => parts.set("PROOF.json", ["artifacts", "STDOUT.log"], undefined));
    unbound.delete("STDOUT.log");
    expect(listProblems(await verifyFiles(unbound))).toEqual([
      "ARTIFACT_MISSING STDOUT.log",
      "ARTIFACT_UNBOUND STDOUT.log",
    ]);
    const edited = forgeRecord((parts) => parts.set("STATUS.json", ["status"], "failed"));
    expect(listProblems(await verifyFiles(edited))).toEqual(["CROSS_CHECK_MISMATCH STATUS.json"]);
  });

  it("of the desktop are told and nothing else", async () => {
    const result = await verifyFiles(withFile(".DS_Store", ""));
    expect([result.accepted, result.warnings.map(({ code, file }) => `${code} ${file}`)]).toEqual([
      true,
      ["STRAY_FILE .DS_Store"],
    ]);
  });

  it("lie in the folder of the run, and nothing else lies there", async () => {
    expect(listProblems(await verifyFiles(genuine, {}, { name: "run-b" }))).toEqual(["RUN_ID_MISMATCH PROOF.json"]);
    expect(listProblems(await verifyFiles(genuine, {}, { strays: ["link"] }))).toEqual(["ARTIFACT_UNBOUND link"]);
  });

  it("that are refused say so in every field", async () => {
    expect(await verifyFiles(without("PROOF.json"))).toMatchObject({
      accepted: false,
      genuine: false,
      verified: null,
      condition: null,
      signature: { state: "absent", keyid: null },
      tree: "skipped",
    });
    expect(await verifyFiles(withFile("PROOF.json", "{}"))).toMatchObject({
      accepted: false,
      genuine: false,
      verified: null,
      condition: null,
      tree: "skipped",
    });
    expect(await verifyFiles(withFile("STDOUT.log", "x"))).toMatchObject({
      accepted: false,
      genuine: false,
      verified: true,
      condition: "RESTORED_IDENTICAL",
    });
  });
});

it("a record of a run that was not accepted is genuine, and not accepted either", async () => {
  const files = readFailedRecord();
  const name = (JSON.parse(Buffer.from(files.get("PROOF.json")!).toString()) as { run_id: string }).run_id;
  expect(await verifyFiles(files, {}, { name })).toMatchObject({
    accepted: false,
    genuine: true,
    verified: false,
    condition: "RESTORATION_FAILED_HASH_MISMATCH",
    errors: [{ code: "NOT_VERIFIED", message: "the run was not accepted: RESTORATION_FAILED_HASH_MISMATCH" }],
  });
});

describe("the signature", async () => {
  const key = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(7));
  const other = await toSigningKey(nodeCrypto, new Uint8Array(32).fill(8));
  const proof = genuine.get("PROOF.json")!;
  const good = await signEnvelope(key, PROOF_PAYLOAD_TYPE, proof);
  const foreign = await signEnvelope(other, PROOF_PAYLOAD_TYPE, proof);
  const judge = async (envelope: Envelope | Uint8Array, pins: readonly string[]) => {
    const bytes = envelope instanceof Uint8Array ? envelope : toEnvelopeFile(envelope);
    const result = await verifyFiles(new Map([...genuine, ["PROOF.dsse.json", bytes]]), { pins });
    return [
      result.signature.state,
      result.accepted,
      ...result.errors.map(({ code, message }) => `${code}: ${message}`),
    ];
  };

  it("of a pinned key is believed, the first of several pins or the last", async () => {
    expect(await judge(good, [key.public_key])).toEqual(["pinned", true]);
    expect(await judge(good, [other.public_key, key.public_key])).toEqual(["pinned", true]);
    const { signature } = await verifyFiles(new Map([...genuine, ["PROOF.dsse.json", toEnvelopeFile(good)]]));
    expect(signature).toEqual({ state: "unpinned", keyid: key.key_id });
  });

  it("of another key is not, nor a pin that is no key", async () => {
    const untrusted = ["untrusted", false, `SIGNATURE_UNTRUSTED: signed by ${other.key_id}, which is not pinned`];
    expect(await judge(foreign, [key.public_key])).toEqual(untrusted);
    expect(await judge(foreign, ["no key"])).toEqual(untrusted);
  });

  it("that is missing is missed only where a key is pinned", async () => {
    expect(listProblems(await verifyFiles(genuine, { pins: [key.public_key] }))).toEqual([
      "SIGNATURE_MISSING PROOF.dsse.json",
    ]);
    expect(listProblems(await verifyFiles(genuine))).toEqual([]);
  });

  it("is one, over this proof, of this type", async () => {
    const pins = [key.public_key];
    const invalid = (why: string) => ["invalid", false, `SIGNATURE_INVALID: ${why}`];
    const none = invalid("it is not an envelope with one signature");
    expect(await judge(Buffer.from("{"), pins)).toEqual(none);
    expect(await judge({ ...good, signatures: [...good.signatures, ...foreign.signatures] }, pins)).toEqual(none);
    expect(await judge(await signEnvelope(key, "text/plain", proof), pins)).toEqual(
      invalid("the payload has a different type"),
    );
    const payload = "the payload is not this PROOF.json";
    const [longer, edited] = [
      Buffer.concat([proof, proof]),
      Buffer.from(textOf("PROOF.json").replace("job-1", "job-2")),
    ];
    for (const bytes of [longer, edited]) {
      expect(await judge(await signEnvelope(key, PROOF_PAYLOAD_TYPE, bytes), pins)).toEqual(invalid(payload));
    }
    const swapped = { ...good, signatures: [{ ...good.signatures[0]!, sig: foreign.signatures[0]!.sig }] };
    expect(await judge(swapped, pins)).toEqual(invalid("the signature does not verify"));
  });
});

describe("the tree as it is now", () => {
  const hashes = JSON.parse(textOf("OUTPUT_HASHES.json")) as Record<string, string>;
  const same = { isSame: () => true };
  const now = (
    more: Record<string, string | null>,
    domains: Record<string, { isSame: (tree: never) => boolean } | null> = { [DOMAIN]: same, [OTHER_DOMAIN]: same },
  ) => ({
    outputs: new Map(Object.entries({ ...hashes, ...more })),
    domains: new Map(Object.entries(domains)),
  });
  const judge = async (tree: ReturnType<typeof now> | null, strict_tree = false) => {
    const {
      accepted,
      tree: state,
      errors,
      warnings,
    } = await verifyFiles(genuine, { tree: () => tree as never, strict_tree });
    return {
      accepted,
      state,
      errors: errors.map(({ code, path }) => `${code} ${path}`),
      warnings: warnings.map(({ code, path }) => `${code} ${path}`),
    };
  };

  it("matches, or is not there to be looked at", async () => {
    expect(await judge(now({}))).toEqual({ accepted: true, state: "matches", errors: [], warnings: [] });
    expect(await judge(null)).toMatchObject({ accepted: true, state: "unavailable" });
  });

  it("has lost an output, or has another one in its place", async () => {
    expect(await judge(now({ [OUTPUT]: null }))).toEqual({
      accepted: false,
      state: "drifted",
      errors: [`OUTPUT_MISSING ${OUTPUT}`],
      warnings: [],
    });
    expect(await judge(now({ [OUTPUT]: "0" }))).toMatchObject({
      accepted: false,
      state: "drifted",
      errors: [`OUTPUT_CHANGED ${OUTPUT}`],
    });
  });

  it("has domains that were used again, which counts only when asked for", async () => {
    const used = { [DOMAIN]: { isSame: () => false }, [OTHER_DOMAIN]: null };
    const drifted = [`DOMAIN_DRIFTED ${DOMAIN}`, `DOMAIN_DRIFTED ${OTHER_DOMAIN}`];
    expect(await judge(now({}, used))).toEqual({ accepted: true, state: "drifted", errors: [], warnings: drifted });
    expect(await judge(now({}, used), true)).toEqual({
      accepted: false,
      state: "drifted",
      errors: drifted,
      warnings: [],
    });
  });

  it("is compared with the trees of the record", async () => {
    const seen: number[] = [];
    const look = { isSame: (tree: ReadonlyMap<string, unknown>) => seen.push(tree.size) > 0 };
    await judge(now({}, { [DOMAIN]: look, [OTHER_DOMAIN]: look } as never));
    expect(seen).toEqual([6, 2]);
  });

  it("is not looked at for a record that is not genuine", async () => {
    const asked: string[] = [];
    const tree = () => {
      asked.push("tree");
      return null;
    };
    expect(await verifyFiles(withFile("STDOUT.log", "x"), { tree })).toMatchObject({ tree: "skipped" });
    expect(asked).toEqual([]);
  });
});
