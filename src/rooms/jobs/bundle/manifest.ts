import { isHash, isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { describeKind, isInteger, type Problem, sortedProblems, toPointer } from "../../../core/contracts/index.ts";
import { FINDINGS, type Finding } from "../../../core/errors/index.ts";
import {
  ARTIFACT_KINDS,
  BUNDLE_OPS,
  BUNDLE_VERSION,
  FORBIDDEN_FIELDS,
  OMITTED_OPS,
} from "../contracts/manifest-shape.ts";

/** How strictly a manifest is judged: as the protocol says, or as a build writes it. */
export type ManifestMode = "default" | "strict";

/** A manifest that passed `checkManifest` in default mode. Further members may be there. */
export interface LooseManifest extends JsonObject {
  bundle_version: typeof BUNDLE_VERSION;
  bundle_id: string;
  run_id: string;
  job_id: string;
  message_id: string;
  plan_hash: string;
  steps: (JsonObject & {
    step_id: string;
    ordinal: number | bigint;
    op: (typeof BUNDLE_OPS)[number];
    refs: JsonObject;
  })[];
  inputs: JsonObject & { symbols: string[]; files: string[]; slices: string[] };
  artifacts: (JsonObject &
    Record<"artifact_id" | "kind" | "ref" | "slice" | "path" | "sha256", string> & {
      bytes: number | bigint;
    })[];
  hashes: JsonObject & { root_hash: string };
  provenance: JsonObject;
}

type SchemaCode = Extract<Finding<"jobs">, `SCHEMA_${string}`>;

interface Judge {
  readonly strict: boolean;
  report(code: SchemaCode, pointer: string, message?: string): void;
}

/** Looks at a member that is there. */
type Rule = (value: JsonValue, pointer: string, judge: Judge) => void;

/**
 * Phase B of verifying a bundle (Bundle Protocol 8.2): every problem of the manifest's shape. Default mode asks for
 * what the protocol says, strict mode for exactly what a build writes. Cost: linear in the manifest.
 *
 * @example
 * checkManifest({}, "default").length > 0; // => true
 */
export function checkManifest(value: JsonValue, mode: ManifestMode): Problem[] {
  const problems: Problem[] = [];
  MANIFEST(value, "", {
    strict: mode === "strict",
    report: (code, pointer, message = FINDINGS.jobs[code]) => problems.push({ code, pointer, message }),
  });
  return sortedProblems(problems);
}

/** A rule for values of one kind; the others are SCHEMA_TYPE. */
function ofKind<T extends JsonValue>(
  is: (value: JsonValue) => value is T,
  then: (...of: [T, string, Judge]) => void,
): Rule {
  return (value, pointer, judge) => {
    if (is(value)) then(value, pointer, judge);
    else judge.report("SCHEMA_TYPE", pointer, `has the wrong type: ${describeKind(value)}`);
  };
}

const isText = (value: JsonValue): value is string => typeof value === "string";
const isItems = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** A string; `allowed` is asked in both modes, `strictly` in strict mode only. */
function text(allowed: (text: string) => boolean = () => true, strictly: (text: string) => boolean = () => true): Rule {
  return ofKind(isText, (value, pointer, judge) => {
    if (!allowed(value) || (judge.strict && !strictly(value))) judge.report("SCHEMA_VALUE", pointer);
  });
}

function oneOf(values: readonly string[]): Rule {
  return text((value) => values.includes(value));
}

/** An integer by its text, of any size. */
function integer(isAllowed: (value: number | bigint, strict: boolean) => boolean): Rule {
  return ofKind(isInteger as (value: JsonValue) => value is number | bigint, (value, pointer, judge) => {
    if (!isAllowed(value, judge.strict)) judge.report("SCHEMA_VALUE", pointer);
  });
}

function list(item: Rule): Rule {
  return ofKind(isItems, (items, pointer, judge) => {
    for (const [index, value] of items.entries()) item(value, toPointer(pointer, index), judge);
  });
}

interface Members {
  readonly required: Readonly<Record<string, Rule>>;
  /** Required in strict mode only. */
  readonly lenient?: Readonly<Record<string, Rule>>;
  readonly optional?: Readonly<Record<string, Rule>>;
  /** Members that are judged elsewhere. */
  readonly ignored?: readonly string[];
}

function object(members: Members, also: (object: JsonObject, pointer: string, judge: Judge) => void = () => {}): Rule {
  const { required, lenient = {}, optional = {}, ignored = [] } = members;
  const rules = new Map(Object.entries({ ...required, ...lenient, ...optional }));
  return ofKind(isJsonObject, (value, pointer, judge) => {
    const needed = [...Object.keys(required), ...(judge.strict ? Object.keys(lenient) : [])];
    for (const key of needed) {
      if (!Object.hasOwn(value, key)) judge.report("SCHEMA_MISSING_FIELD", toPointer(pointer, key));
    }
    for (const key of Object.keys(value)) {
      const rule = rules.get(key);
      if (rule !== undefined) rule(value[key]!, toPointer(pointer, key), judge);
      else if (judge.strict && !ignored.includes(key)) judge.report("SCHEMA_UNKNOWN_FIELD", toPointer(pointer, key));
    }
    also(value, pointer, judge);
  });
}

const isFilled = (value: string) => value !== "";
const isAny = () => true;
const anyObject = ofKind(isJsonObject, () => undefined);
const hash = text(isAny, isHash);
const ordinal = integer((value, strict) => !strict || value >= 0);
const texts = list(text());

const SYMBOL_REFS = object({ required: { symbol_id: text() } });
const SECTION_REFS = object({ required: { section_id: text() } });

const STEP = object(
  {
    required: { step_id: text(), ordinal, op: oneOf(BUNDLE_OPS), refs: anyObject },
    lenient: { constraints: object({ required: {}, lenient: { slice: text() } }), expected_outputs: anyObject },
  },
  (step, pointer, judge) => {
    const refs = step["refs"];
    if (!isJsonObject(refs)) return;
    if (step["op"] === "READ_SYMBOL") SYMBOL_REFS(refs, `${pointer}/refs`, judge);
    if (step["op"] === "READ_SECTION") SECTION_REFS(refs, `${pointer}/refs`, judge);
  },
);

const ARTIFACT = object({
  required: {
    artifact_id: text(isAny, (value) => /^[0-9a-f]{16}$/.test(value)),
    kind: oneOf(ARTIFACT_KINDS),
    ref: text(),
    slice: text(),
    path: text(),
    sha256: hash,
    bytes: integer((value) => value >= 0),
  },
});

/** References to receipts; an empty list says nothing and is left out instead. */
function receiptRefs(ops: readonly string[]): Rule {
  const items = list(object({ required: { step_id: text(), ordinal, op: oneOf(ops), receipt_hash: hash } }));
  return (value, pointer, judge) => {
    if (Array.isArray(value) && value.length === 0) judge.report("SCHEMA_TYPE", pointer, "must not be empty");
    else items(value, pointer, judge);
  };
}

const PROVENANCE = object({
  required: {},
  optional: {
    receipts: receiptRefs(BUNDLE_OPS),
    omitted_steps: receiptRefs(OMITTED_OPS),
    signer: object({ required: { key_id: hash } }),
  },
});

const MANIFEST = object({
  required: {
    bundle_version: oneOf([BUNDLE_VERSION]),
    bundle_id: hash,
    run_id: text(isFilled),
    job_id: text(isFilled),
    message_id: text(isFilled),
    plan_hash: hash,
    steps: list(STEP),
    inputs: object({ required: { symbols: texts, files: texts, slices: texts } }),
    artifacts: list(ARTIFACT),
    hashes: object({ required: { root_hash: hash } }),
    // What provenance holds is nobody's business but strict mode's.
    provenance: (value, pointer, judge) => (judge.strict ? PROVENANCE : anyObject)(value, pointer, judge),
  },
  ignored: FORBIDDEN_FIELDS,
});
