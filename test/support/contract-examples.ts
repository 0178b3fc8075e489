import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { toContractPath } from "../../src/app/hall/contract-files.ts";
import { isJsonObject, type JsonValue, parseJson } from "../../src/core/canonical/index.ts";
import { type ContractObject, judgeObject } from "../../src/core/contracts/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";

export const CONTRACTS_FOLDER = fileURLToPath(new URL("../../contracts", import.meta.url));

/** What an invalid example must raise: a code at a pointer, or at a line of a text. */
export interface Expected {
  readonly code: string;
  readonly pointer?: string;
  readonly line?: number;
}

export interface Example {
  readonly contract: ContractObject;
  readonly kind: "valid" | "invalid";
  /** Path below `contracts/`. */
  readonly file: string;
  readonly expect: readonly Expected[];
  /** The instance: a JSON value, or a text for text artifacts and for JSON that must not parse. */
  readonly instance: { readonly value: JsonValue } | { readonly text: string };
}

/** Every example of a contract object, in order of file name. */
export function listExamples(contract: ContractObject): Example[] {
  return (["valid", "invalid"] as const).flatMap((kind) => {
    const folder = `${toContractPath(contract)}/${kind}`;
    return listFiles(folder).map((name) => loadExample(contract, kind, `${folder}/${name}`));
  });
}

/** Folders below `contracts/` that hold examples. */
export function listExampleFolders(): string[] {
  const folders = readdirSync(CONTRACTS_FOLDER, { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => /\/(?:valid|invalid)$/.test(path))
    .map((path) => path.slice(0, path.lastIndexOf("/")));
  return [...new Set(folders)].sort();
}

/** What `contract check` raises for an example. */
export async function judgeExample({ contract, instance }: Example): Promise<Expected[]> {
  if (contract.media === "text") {
    if (!("text" in instance)) throw new Error("a text contract needs texts as examples");
    return contract.check(instance.text).map(({ code, line }) => ({ code, line }));
  }
  try {
    const value = "value" in instance ? instance.value : parseJson(instance.text);
    return (await judgeObject(contract, value, nodeCrypto)).map(({ code, pointer }) => ({ code, pointer }));
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code.startsWith("JSON_")) return [{ code: thrown.code, pointer: "" }];
    throw thrown;
  }
}

function listFiles(folder: string): string[] {
  const path = join(CONTRACTS_FOLDER, folder);
  return existsSync(path) ? readdirSync(path).sort() : [];
}

function loadExample(contract: ContractObject, kind: "valid" | "invalid", file: string): Example {
  const bytes = readFileSync(join(CONTRACTS_FOLDER, file));
  if (kind === "valid") {
    const instance =
      contract.media === "text" ? { text: bytes.toString("utf8") } : { value: parseJson(bytes, { file }) };
    return { contract, kind, file, expect: [], instance };
  }
  const frame = parseJson(bytes, { file });
  if (!isJsonObject(frame)) throw new Error(`${file}: an invalid example is {"expect": [...], "value" or "text"}`);
  const { expect, value, text, ...rest } = frame;
  const strange =
    Object.keys(rest).length > 0 || !Array.isArray(expect) || (value === undefined) === (text === undefined);
  if (strange) throw new Error(`${file}: an invalid example is {"expect": [...], "value" or "text"}`);
  const instance = value === undefined ? { text: String(text) } : { value: unfold(value) };
  return { contract, kind, file, expect: expect as unknown as Expected[], instance };
}

/** `{"$repeat":{"text","times"}}` is a long text; `{"$repeat":{"item","times"}}` in an array is that many items. */
function unfold(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).flatMap((item) => {
      const repeat = readRepeat(item);
      return repeat?.["item"] === undefined
        ? [unfold(item)]
        : Array<JsonValue>(Number(repeat["times"])).fill(repeat["item"]);
    });
  }
  if (!isJsonObject(value)) return value;
  const repeat = readRepeat(value);
  if (repeat !== null) return String(repeat["text"]).repeat(Number(repeat["times"]));
  const copy = Object.create(null) as Record<string, JsonValue>;
  for (const key of Object.keys(value)) copy[key] = unfold(value[key]!);
  return copy;
}

function readRepeat(value: JsonValue): Record<string, JsonValue> | null {
  const repeat = isJsonObject(value) && Object.keys(value).length === 1 ? value["$repeat"] : undefined;
  return repeat !== undefined && isJsonObject(repeat) ? repeat : null;
}
