import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { encodeUtf8, type JsonObject } from "../../src/core/canonical/index.ts";
import { VerbatimError } from "../../src/core/errors/index.ts";
import { sliceText } from "../../src/core/text/index.ts";
import type { Message } from "../../src/rooms/jobs/contracts/message-shape.ts";
import type { Corpus, CorpusView } from "../../src/rooms/jobs/ports.ts";

interface TestSymbol {
  readonly target_type: "SECTION" | "FILE" | "HEADING";
  readonly file_path: string;
  readonly slice: string;
}

/** Files in memory and symbols for them: what the context room gives, without its database. */
export class TestCorpus implements Corpus, CorpusView {
  readonly files = new Map<string, string>();
  readonly symbols = new Map<string, TestSymbol>();
  looks = 0;

  /** A file and a symbol for it. */
  add(
    symbol: string,
    file_path: string,
    text: string,
    slice = "head(1)",
    target_type: TestSymbol["target_type"] = "FILE",
  ) {
    this.files.set(file_path, text);
    this.symbols.set(symbol, { target_type, file_path, slice });
    return this;
  }

  sectionOf(file_path: string): string {
    return nodeCrypto.sha256(`section of ${file_path}`);
  }

  async look<T>(fn: (view: CorpusView) => Promise<T>): Promise<T> {
    this.looks++;
    return fn(this);
  }

  async targetType(symbolId: string): Promise<TestSymbol["target_type"]> {
    return this.#symbol(symbolId).target_type;
  }

  async cut(ref: string, asked: string | undefined) {
    const { file_path, own } = ref.startsWith("@")
      ? { file_path: this.#symbol(ref).file_path, own: this.#symbol(ref).slice }
      : { file_path: this.#fileOf(ref), own: undefined };
    const slice = (asked ?? own)!;
    const bytes = encodeUtf8(sliceText(this.#read(file_path), slice, ref));
    return { slice, section_id: this.sectionOf(file_path), file_path, bytes, content_hash: nodeCrypto.sha256(bytes) };
  }

  async open(symbolId: string) {
    const { file_path } = this.#symbol(symbolId);
    this.#read(file_path);
    return { section_id: this.sectionOf(file_path), file_path, read: () => this.#read(file_path) };
  }

  #symbol(id: string): TestSymbol {
    const symbol = this.symbols.get(id);
    if (symbol === undefined) throw new VerbatimError("SYMBOL_UNKNOWN", { details: { symbol_id: id, nearest: [] } });
    return symbol;
  }

  #fileOf(sectionId: string): string {
    const path = [...this.files.keys()].find((file) => this.sectionOf(file) === sectionId);
    if (path === undefined) throw new VerbatimError("SECTION_NOT_FOUND", { details: { section_id: sectionId } });
    return path;
  }

  #read(path: string): string {
    const text = this.files.get(path);
    if (text === undefined) throw new VerbatimError("FILE_NOT_INDEXED", { where: path, details: { file_path: path } });
    return text;
  }
}

/** The harbour's logbook: three files and their symbols. */
export function harbourCorpus(): TestCorpus {
  return new TestCorpus()
    .add(
      "@CANON/TIDES",
      "LAW/CANON/TIDES.md",
      "# Tides\nHigh at six.\nLow at noon.\n\nSpring tide on Friday.\n",
      "lines[0:3]",
    )
    .add("@CANON/LAMPS", "LAW/CANON/LAMPS.md", "# Lamps\nRed to port.\nGreen to starboard.\n", "head(2)")
    .add("@TOOLS/BELL", "TOOLS/BELL.md", "# Bell\nRing twice in fog.\n", "tail(1)");
}

const LARGE = 1_000_000;

/** A message with budgets that are never reached, unless told otherwise. */
export function makeMessage(ops: Message["ops"], change: Partial<Message> = {}): Message & JsonObject {
  const refs = [...new Set(ops.map(({ target }) => target).filter((target) => target.startsWith("@")))];
  return {
    intent: "keep the logbook",
    refs,
    ops,
    budgets: { max_symbols: LARGE, max_sections: LARGE, max_bytes_expanded: LARGE, max_expands_per_step: LARGE },
    required_outputs: [],
    ...change,
  } as Message & JsonObject;
}

export function read(target: string, slice?: string, output?: string): Message["ops"][number] {
  const params = { ...(slice === undefined ? {} : { slice }), ...(output === undefined ? {} : { output }) };
  return { type: "READ", target, params };
}
