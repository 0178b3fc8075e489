import { isJsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { OutputFilter } from "../../../rooms/catalytic/index.ts";
import { Redactor, redactBytes, type SecretFinder } from "../../../rooms/workflow/index.ts";

type Stream = "stdout" | "stderr";

/**
 * What the gate runner says is one JSON text a line, and what commands print is in base64 there: it is taken out, filtered
 * and put back, so that the recorded log holds no secret either.
 */
export class GateLogFilter implements OutputFilter {
  readonly #finder: SecretFinder;
  readonly #redactors: Readonly<Record<Stream, Redactor>>;
  #line: Buffer = Buffer.alloc(0);

  constructor(finder: SecretFinder) {
    this.#finder = finder;
    this.#redactors = { stdout: new Redactor(finder), stderr: new Redactor(finder) };
  }

  add(bytes: Uint8Array): Uint8Array {
    const all = Buffer.concat([this.#line, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    this.#line = all.subarray(end);
    const out: Uint8Array[] = [];
    for (let at = 0; at < end; ) {
      const next = all.indexOf(0x0a, at) + 1;
      out.push(this.#filter(all.subarray(at, next)));
      at = next;
    }
    return Buffer.concat(out);
  }

  end(): Uint8Array {
    const rest = (["stdout", "stderr"] as const).map((stream) => toLine(stream, this.#redactors[stream].end()));
    return Buffer.concat([...rest, redactBytes(this.#finder, this.#line)]);
  }

  #filter(line: Buffer): Uint8Array {
    const message = readLine(line);
    const stream = isJsonObject(message) ? message["output"] : undefined;
    const bytes = isJsonObject(message) ? message["bytes"] : undefined;
    if ((stream !== "stdout" && stream !== "stderr") || typeof bytes !== "string")
      return redactBytes(this.#finder, line);
    return toLine(stream, this.#redactors[stream].add(Buffer.from(bytes, "base64")));
  }
}

function toLine(stream: Stream, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return Buffer.alloc(0);
  return Buffer.from(`${JSON.stringify({ output: stream, bytes: Buffer.from(bytes).toString("base64") })}\n`);
}

function readLine(line: Buffer): JsonValue {
  try {
    return parseJson(line);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}
