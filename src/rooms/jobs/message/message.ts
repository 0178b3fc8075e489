import { isJsonObject, type JsonObject, type JsonValue, parseJson, utf8Length } from "../../../core/canonical/index.ts";
import {
  findSliceProblem,
  isInteger,
  isOutputName,
  isSectionId,
  isSymbolId,
  type Problem,
  readItems,
  readMember,
  readText,
  sortedProblems,
  toPointer,
} from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding, VerbatimError } from "../../../core/errors/index.ts";
import { MAX_OPS, type Message, messageSchema } from "../contracts/message-shape.ts";

export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const FIELDS = Object.keys(messageSchema.shape);
const BUDGETS = Object.keys(messageSchema.shape.budgets.shape);
const OP_FIELDS = ["type", "target", "params"];

/** The parameters of each operation: those it needs, and those it may have. */
const PARAMS: ReadonlyMap<string, { readonly required: readonly string[]; readonly optional: readonly string[] }> =
  new Map([
    ["READ", { required: [], optional: ["slice", "output"] }],
    ["WRITE", { required: ["patch"], optional: ["output"] }],
    ["EXECUTE", { required: [], optional: ["output"] }],
  ]);

type Report = (code: Finding<"jobs">, pointer: string) => void;

/**
 * Reads a message: MESSAGE_TOO_LARGE, a JSON_* code, or MESSAGE_INVALID with every problem.
 *
 * @example
 * const message = parseMessage(
 *   JSON.stringify({
 *     intent: "read the tides",
 *     refs: ["@TIDES/LOW"],
 *     ops: [{ type: "READ", target: "@TIDES/LOW", params: { output: "low" } }],
 *     budgets: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 1000, max_expands_per_step: 1 },
 *     required_outputs: ["low"],
 *   }),
 * );
 * message.ops.length; // => 1
 */
export function parseMessage(input: Uint8Array | string): Message {
  const bytes = typeof input === "string" ? utf8Length(input) : input.byteLength;
  if (bytes > MAX_MESSAGE_BYTES) throw messageTooLarge(bytes);
  return toMessage(parseJson(input));
}

/** MESSAGE_TOO_LARGE. The size is not known of what was not read to its end. */
export function messageTooLarge(bytes: number | null, where = ""): VerbatimError {
  return new VerbatimError("MESSAGE_TOO_LARGE", {
    message: `the message has ${bytes === null ? "more" : `${bytes} bytes, more`} than ${MAX_MESSAGE_BYTES} bytes`,
    where,
    details: { limit: MAX_MESSAGE_BYTES, ...(bytes === null ? {} : { bytes }) },
  });
}

/** The value as a message, or MESSAGE_INVALID with every problem in `details.problems`. */
export function toMessage(value: JsonValue): Message {
  const problems = checkMessage(value);
  const first = problems[0];
  if (first === undefined) return value as Message;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new VerbatimError("MESSAGE_INVALID", {
    message: `${first.pointer || "the message"}: ${first.message}${more}`,
    where: first.pointer,
    details: { problems },
  });
}

/**
 * Every problem of a message that can be seen without resolving anything. A field that is missing or of the wrong
 * type is reported itself and not used to judge others. Cost: linear in the message.
 *
 * @example
 * checkMessage({ intent: "read the tides" }).map(({ pointer }) => pointer); // => ["/budgets", "/ops", "/refs", "/required_outputs"]
 */
export function checkMessage(value: JsonValue): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (code, pointer) => problems.push({ code, pointer, message: FINDINGS.jobs[code] });
  if (!isJsonObject(value)) report("MESSAGE_FIELD_TYPE", "");
  else {
    checkFields(value, "", FIELDS, report);
    checkIntent(value, report);
    checkRefs(value, report);
    checkOps(value, report);
    checkBudgets(value, report);
    checkRequiredOutputs(value, report);
  }
  return sortedProblems(problems);
}

function checkFields(object: JsonObject, pointer: string, fields: readonly string[], report: Report): void {
  for (const field of fields) {
    if (!Object.hasOwn(object, field)) report("MESSAGE_FIELD_MISSING", toPointer(pointer, field));
  }
  for (const key of Object.keys(object)) {
    if (!fields.includes(key)) report("MESSAGE_FIELD_UNKNOWN", toPointer(pointer, key));
  }
}

/** A member that is a string; one of another type is reported. */
function takeText(object: JsonObject, key: string, pointer: string, report: Report): string | null {
  if (!Object.hasOwn(object, key)) return null;
  const text = object[key];
  if (typeof text === "string") return text;
  report("MESSAGE_FIELD_TYPE", toPointer(pointer, key));
  return null;
}

/** A member that is an array; one of another type is reported. */
function takeItems(object: JsonObject, key: string, report: Report): readonly JsonValue[] | null {
  if (!Object.hasOwn(object, key)) return null;
  const items = object[key];
  if (Array.isArray(items)) return items as readonly JsonValue[];
  report("MESSAGE_FIELD_TYPE", toPointer("", key));
  return null;
}

function checkIntent(message: JsonObject, report: Report): void {
  const intent = takeText(message, "intent", "", report);
  if (intent !== null && intent.trim() === "") report("MESSAGE_INTENT_EMPTY", "/intent");
}

function checkRefs(message: JsonObject, report: Report): void {
  for (const [index, ref] of (takeItems(message, "refs", report) ?? []).entries()) {
    if (typeof ref !== "string") report("MESSAGE_FIELD_TYPE", `/refs/${index}`);
    else if (!isSymbolId(ref)) report("MESSAGE_SYMBOL_SYNTAX", `/refs/${index}`);
  }
}

function checkOps(message: JsonObject, report: Report): void {
  const ops = takeItems(message, "ops", report);
  if (ops === null) return;
  if (ops.length === 0) report("MESSAGE_NO_OPS", "/ops");
  if (ops.length > MAX_OPS) report("MESSAGE_TOO_MANY_OPS", "/ops");
  const refs = readMember(message, "refs");
  const declared = Array.isArray(refs) ? new Set<unknown>(refs) : null;
  const outputs = new Set<string>();
  for (const [index, op] of ops.entries()) {
    const pointer = `/ops/${index}`;
    if (!isJsonObject(op)) report("MESSAGE_FIELD_TYPE", pointer);
    else {
      checkFields(op, pointer, OP_FIELDS, report);
      checkTarget(op, pointer, declared, report);
      checkParams(op, pointer, outputs, report);
    }
  }
}

function checkTarget(op: JsonObject, pointer: string, declared: ReadonlySet<unknown> | null, report: Report): void {
  const target = takeText(op, "target", pointer, report);
  if (target === null) return;
  const at = `${pointer}/target`;
  if (isSymbolId(target)) {
    if (declared !== null && !declared.has(target)) report("MESSAGE_TARGET_UNDECLARED", at);
  } else if (!isSectionId(target) || readText(op, "type") !== "READ") report("MESSAGE_TARGET_SYNTAX", at);
}

/** Judges the operation's type and, when it is known, its parameters. */
function checkParams(op: JsonObject, pointer: string, outputs: Set<string>, report: Report): void {
  const type = takeText(op, "type", pointer, report);
  const known = type === null ? undefined : PARAMS.get(type);
  if (type !== null && known === undefined) report("MESSAGE_OP_TYPE", `${pointer}/type`);
  const params = op["params"];
  if (params === undefined) return;
  const at = `${pointer}/params`;
  if (!isJsonObject(params)) report("MESSAGE_FIELD_TYPE", at);
  if (known === undefined || !isJsonObject(params)) return;
  for (const key of known.required) {
    if (!Object.hasOwn(params, key)) report("MESSAGE_PARAM_MISSING", toPointer(at, key));
  }
  for (const key of Object.keys(params)) {
    const listed = known.required.includes(key) || known.optional.includes(key);
    if (!listed) report("MESSAGE_PARAM_UNKNOWN", toPointer(at, key));
    else if (takeText(params, key, at, report) !== null) checkParam(params, key, at, outputs, report);
  }
  const target = readText(op, "target");
  const bare = type === "READ" && target !== null && isSectionId(target);
  if (bare && !Object.hasOwn(params, "slice")) report("SLICE_REQUIRED", at);
}

function checkParam(params: JsonObject, key: string, pointer: string, outputs: Set<string>, report: Report): void {
  const text = String(params[key]);
  if (key === "slice") {
    const code = findSliceProblem(text);
    if (code !== null) report(code, `${pointer}/slice`);
  } else if (key === "output") {
    if (!isOutputName(text)) report("MESSAGE_OUTPUT_SYNTAX", `${pointer}/output`);
    else if (outputs.has(text)) report("MESSAGE_OUTPUT_DUPLICATE", `${pointer}/output`);
    outputs.add(text);
  }
}

function checkBudgets(message: JsonObject, report: Report): void {
  const budgets = message["budgets"];
  if (budgets === undefined) return;
  if (!isJsonObject(budgets)) {
    report("MESSAGE_FIELD_TYPE", "/budgets");
    return;
  }
  checkFields(budgets, "/budgets", BUDGETS, report);
  for (const name of BUDGETS) {
    if (!Object.hasOwn(budgets, name)) continue;
    const limit = budgets[name];
    if (!isInteger(limit) || limit < 0 || limit > Number.MAX_SAFE_INTEGER) {
      report("MESSAGE_BUDGET_INVALID", `/budgets/${name}`);
    }
  }
}

function checkRequiredOutputs(message: JsonObject, report: Report): void {
  const provided = Array.isArray(readMember(message, "ops"))
    ? new Set(readItems(message, "ops").map((op) => readText(readMember(op, "params"), "output")))
    : null;
  const seen = new Set<string>();
  for (const [index, name] of (takeItems(message, "required_outputs", report) ?? []).entries()) {
    const at = `/required_outputs/${index}`;
    if (typeof name !== "string") report("MESSAGE_FIELD_TYPE", at);
    else if (!isOutputName(name)) report("MESSAGE_OUTPUT_SYNTAX", at);
    else {
      if (seen.has(name)) report("MESSAGE_OUTPUT_DUPLICATE", at);
      if (provided !== null && !provided.has(name)) report("MESSAGE_OUTPUT_UNPROVIDED", at);
      seen.add(name);
    }
  }
}
