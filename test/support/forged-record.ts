import { readFileSync } from "node:fs";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { formatCanonical, type JsonObject, type JsonValue } from "../../src/core/canonical/index.ts";
import { proofHash } from "../../src/rooms/catalytic/record/proof.ts";
import { RunLedger } from "../../src/rooms/catalytic/record/run-ledger.ts";
import { type RunFolder, type VerifyOptions, verifyRun } from "../../src/rooms/catalytic/verify/verify.ts";

interface Vector {
  readonly id: string;
  readonly input: { readonly files: Readonly<Record<string, string>> };
}

const file = new URL("../vectors/catalytic.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8")) as Vector[];
const filesOf = (wanted: string) => vectors.find(({ id }) => id === wanted)!.input.files;
const genuine = filesOf("cat-132");
const CLOSING = ["OUTPUTS", "POST_MANIFEST", "PRE_MANIFEST", "RESTORE_DIFF", "RUN_INFO", "STATUS"];

/** The names of the domains and of an output of the record. */
export const DOMAIN = "LAW/CONTRACTS/_runs/_tmp/x";
export const OTHER_DOMAIN = "THOUGHT/LAB/_tmp/y";
export const OUTPUT = "NAVIGATION/CORTEX/_generated/cortex.json";

type Key = string | number;

/** The genuine record of the contract's vectors, taken apart so that somebody can change it. */
export class RecordParts {
  readonly #values = new Map<string, JsonValue>();
  readonly #texts = new Map<string, string>();
  readonly ledger: { kind: string; body: JsonValue }[];
  /** Whether the closing entry of the ledger is made from the files again. */
  closed = true;

  constructor() {
    const { "LEDGER.jsonl": ledger, ...rest } = genuine;
    const lines = ledger!.split("\n").slice(0, -1);
    this.ledger = lines.map((line) => JSON.parse(line) as { kind: string; body: JsonValue });
    for (const [name, text] of Object.entries(rest)) {
      if (name.endsWith(".json")) this.#values.set(name, JSON.parse(text) as JsonValue);
      else this.#texts.set(name, text);
    }
  }

  get(name: string, ...keys: readonly Key[]): JsonValue | undefined {
    let value: JsonValue | undefined = this.#values.get(name);
    for (const key of keys) value = (value as JsonObject | undefined)?.[key as string];
    return value;
  }

  /** Puts a value where the keys lead; undefined takes away what is there. */
  set(name: string, keys: readonly Key[], value: JsonValue | undefined): void {
    const last = keys.at(-1);
    if (last === undefined) this.#values.set(name, value!);
    else {
      const holder = this.get(name, ...keys.slice(0, -1)) as Record<Key, JsonValue>;
      if (Array.isArray(holder) && value === undefined) holder.splice(Number(last), 1);
      else if (value === undefined) delete holder[last];
      else holder[last] = value;
    }
  }

  /** Puts a text in the place of a file. */
  write(name: string, text: string): void {
    this.#values.delete(name);
    this.#texts.set(name, text);
  }

  /** The files, with every hash and the ledger made to fit again, as somebody careful would. */
  seal(): Map<string, Uint8Array> {
    const { "PROOF.json": proof, ...values } = Object.fromEntries(this.#values);
    const texts = new Map(this.#texts);
    for (const [name, value] of Object.entries(values)) texts.set(name, `${formatCanonical(value)}\n`);
    texts.set("LEDGER.jsonl", this.#writeLedger());
    const { artifacts, ...rest } = proof as JsonObject;
    const bound = { ...(artifacts as Record<string, JsonValue>) };
    for (const [name, text] of texts) if (Object.hasOwn(bound, name)) bound[name] = nodeCrypto.sha256(text);
    const sealed = { ...rest, artifacts: bound };
    texts.set("PROOF.json", `${formatCanonical({ ...sealed, proof_hash: proofHash(nodeCrypto, sealed) })}\n`);
    return new Map([...texts].map(([name, text]) => [name, Buffer.from(text)]));
  }

  #writeLedger(): string {
    const writer = new RunLedger(nodeCrypto, { now: () => 0 }, String(this.get("PROOF.json", "run_id")), "cli");
    const closing = Object.fromEntries(CLOSING.map((name) => [name, this.get(`${name}.json`) ?? null]));
    return this.ledger
      .map(({ kind, body }) => writer.add(kind, kind === "RUN" && this.closed ? closing : body))
      .join("");
  }
}

/** The genuine record of a run whose domain could not be put back. */
export function readFailedRecord(): Map<string, Uint8Array> {
  return new Map(Object.entries(filesOf("cat-133")).map(([name, text]) => [name, Buffer.from(text)]));
}

export function forgeRecord(change: (parts: RecordParts) => void): Map<string, Uint8Array> {
  const parts = new RecordParts();
  change(parts);
  return parts.seal();
}

const ALONE: VerifyOptions = { pins: [], policy_sha256: null, tree: "skip", strict_tree: false };

export function verifyFiles(
  files: ReadonlyMap<string, Uint8Array>,
  options: Partial<VerifyOptions> = {},
  folder: Partial<RunFolder> = {},
) {
  return verifyRun(nodeCrypto, { name: "run-a", files, ...folder }, { ...ALONE, ...options });
}

/** Every problem of a record as code and place. */
export function listProblems({ errors }: Awaited<ReturnType<typeof verifyFiles>>): string[] {
  return errors.map(({ code, file: name, path }) => `${code} ${name ?? path ?? ""}`.trim());
}
