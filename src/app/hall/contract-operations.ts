import { z } from "zod";
import { decodeUtf8, findIllFormed, locatePointers, parseJson } from "../../core/canonical/index.ts";
import { type JsonContract, judgeObject, type TextContract } from "../../core/contracts/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, READER } from "../../core/operation.ts";
import type { Crypto, LocalFiles } from "../../core/ports.ts";
import { formatContractSchema } from "./contract-files.ts";
import { CONTRACTS, findContract, toContractId } from "./contracts.ts";

const MAX_FILE = 64 * 1024 * 1024;
const objectName = z.string().describe("Name of the contract object, with or without its room: jobs/message, message.");

const list = defineOperation({
  name: "contract.list",
  summary: "Lists the contract objects.",
  effect: "read",
  who: READER,
  input: z.strictObject({}),
  output: z.strictObject({
    objects: z.array(z.strictObject({ id: z.string(), title: z.string(), media: z.string(), summary: z.string() })),
  }),
  run: async (_: unknown) => ({
    objects: CONTRACTS.map((contract) => ({
      id: toContractId(contract),
      title: contract.title,
      media: contract.media,
      summary: contract.summary,
    })),
  }),
});

const show = defineOperation({
  name: "contract.show",
  summary: "Shows the schema of a contract object.",
  effect: "read",
  who: READER,
  input: z.strictObject({ object: objectName }),
  output: z.strictObject({ schema: z.record(z.string(), z.unknown()) }),
  run: async (_: unknown, { object }) => {
    const contract = findContract(object);
    if (contract.media === "text") {
      const codes = Object.fromEntries(contract.codes);
      return { schema: { title: contract.title, description: contract.summary, media: "text", codes } };
    }
    return { schema: JSON.parse(formatContractSchema(contract)) as Record<string, unknown> };
  },
});

const check = defineOperation({
  name: "contract.check",
  summary:
    "Checks a file against a contract object: lists every problem with its code and place, and recomputes hashes.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ object: objectName, file: z.string().describe("File to check; - reads standard input.") }),
  output: z.strictObject({
    ok: z.boolean(),
    object: z.string(),
    file: z.string(),
    problems: z.array(
      z.strictObject({ code: z.string(), where: z.string(), pointer: z.string().optional(), message: z.string() }),
    ),
  }),
  async run({ files, crypto }: { readonly files: LocalFiles; readonly crypto: Crypto }, { object, file }) {
    const contract = findContract(object);
    const bytes = await files.read(file, MAX_FILE);
    const name = file === "-" ? "standard input" : file;
    const problems =
      contract.media === "text" ? checkText(contract, bytes, name) : await checkJson(contract, crypto, bytes, name);
    return { ok: problems.length === 0, object: toContractId(contract), file: name, problems };
  },
});

interface Judged {
  readonly code: string;
  readonly where: string;
  readonly pointer?: string;
  readonly message: string;
}

function checkText(contract: TextContract, bytes: Uint8Array, file: string): Judged[] {
  const text = decodeUtf8(bytes);
  if (text === null) {
    throw new VerbatimError("FILE_UNREADABLE", {
      message: "the file is not UTF-8 text",
      where: `${file} byte ${findIllFormed(bytes)}`,
    });
  }
  return contract.check(text).map(({ code, line, message }) => ({ code, where: `${file}:${line}`, message }));
}

/** A `jsonl` object is one line of a file: every line is judged. */
async function checkJson(contract: JsonContract, crypto: Crypto, bytes: Uint8Array, file: string): Promise<Judged[]> {
  if (contract.media === "json") return judge(contract, crypto, bytes, file, 1);
  const problems: Judged[] = [];
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end === -1 ? bytes.length : end;
    for (const problem of await judge(contract, crypto, bytes.subarray(start, stop), file, line))
      problems.push(problem);
    start = stop + 1;
  }
  return problems;
}

async function judge(
  contract: JsonContract,
  crypto: Crypto,
  bytes: Uint8Array,
  file: string,
  line: number,
): Promise<Judged[]> {
  const value = parseJson(bytes, { file: line === 1 ? file : `${file}:${line}` });
  const problems = await judgeObject(contract, value, crypto);
  if (problems.length === 0) return [];
  const text = decodeUtf8(bytes) ?? "";
  const pointers = problems.map(({ pointer }) => pointer);
  const places = locatePointers(text, pointers);
  return problems.map(({ code, pointer, message }, i) => {
    const place = places[i]!;
    return { code, where: `${file}:${place.line + line - 1}:${place.column}`, pointer, message };
  });
}

/** Everything under `contract.` */
export const CONTRACT_OPERATIONS = [list, show, check] as const;
