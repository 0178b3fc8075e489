import type { Context } from "hono";
import { isJsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { FILE_TYPE, JSON_TYPE, requireType } from "./body-type.ts";

const BODY_LIMIT = 256 * 1024;
const IMPORT_LIMIT = 32 * 1024 * 1024;
const MAX_LEVELS = 32;

/** Reads a file that was sent. */
export async function readUpload(context: Context, limit: number = IMPORT_LIMIT): Promise<Uint8Array> {
  return readBytes(context, limit, FILE_TYPE);
}

/** Reads the bytes of a body of one type, but no more than the limit. */
async function readBytes(context: Context, limit: number, type: string): Promise<Uint8Array> {
  const { headers } = context.req.raw;
  requireType(headers, type, false);
  const declared = Number(context.req.header("content-length") ?? "0");
  if (declared > limit) throw tooLarge(declared, limit);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of context.req.raw.body ?? []) {
    size += part.byteLength;
    if (size > 0) requireType(headers, type, true);
    if (size > limit) throw tooLarge(size, limit);
    parts.push(part as Uint8Array);
  }
  return Buffer.concat(parts);
}

/** The body as the strict parser reads it. */
export async function readStrict(context: Context, limit: number = BODY_LIMIT): Promise<JsonValue> {
  return parseJson(await readBytes(context, limit, JSON_TYPE), { maxDepth: MAX_LEVELS });
}

/** The body as a plain object for an operation's schema; an empty body is an empty object. */
export async function readInput(context: Context, limit: number = BODY_LIMIT): Promise<Record<string, unknown>> {
  const bytes = await readBytes(context, limit, JSON_TYPE);
  if (bytes.byteLength === 0) return {};
  const value = parseJson(bytes, { maxDepth: MAX_LEVELS });
  if (!isJsonObject(value))
    throw new VerbatimError("INPUT_INVALID", { message: "the body is not a JSON object", where: "" });
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

function tooLarge(size: number, limit: number): VerbatimError {
  return new VerbatimError("BODY_TOO_LARGE", {
    message: `the body has at least ${size} bytes; the limit is ${limit}`,
    details: { limit },
  });
}
