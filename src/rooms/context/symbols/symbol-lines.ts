import { formatCanonical, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, passFixOn, VerbatimError } from "../../../core/errors/index.ts";
import type { SymbolRecord } from "../contracts/index.ts";
import { parseSymbol } from "./symbol.ts";

const LINE_FEED = 0x0a;

/** A symbol as one line of an export, without its line feed. */
export function formatSymbolLine(symbol: SymbolRecord): string {
  return formatCanonical(symbol);
}

/** Reads JSON Lines of symbols; the first line that is not one is named, and so is an id that appears twice. */
export function parseSymbolLines(bytes: Uint8Array, file: string): SymbolRecord[] {
  const symbols = new Map<string, SymbolRecord>();
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(LINE_FEED, start);
    const stop = end === -1 ? bytes.length : end;
    const where = `${file}:${line}`;
    const symbol = parseLine(bytes.subarray(start, stop), where);
    if (symbols.has(symbol.symbol_id)) {
      throw new VerbatimError("SYMBOL_EXISTS", {
        message: `${symbol.symbol_id} is in the file twice`,
        where,
        fix: "Remove one of the two lines; nothing was imported.",
      });
    }
    symbols.set(symbol.symbol_id, symbol);
    start = stop + 1;
  }
  return [...symbols.values()];
}

function parseLine(bytes: Uint8Array, where: string): SymbolRecord {
  const value = parseJson(bytes, { file: where });
  try {
    return parseSymbol(value);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { code, message, details } = thrown;
    const pointer = thrown.where === undefined || thrown.where === "" ? "" : ` ${thrown.where}`;
    throw new VerbatimError(code, {
      message,
      where: `${where}${pointer}`,
      fix: passFixOn(thrown),
      ...(details ? { details } : {}),
      cause: thrown,
    });
  }
}
