import { isJsonObject, type JsonObject, type JsonValue, sortedByCodePoint } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { FIND_RESULT_VERSION } from "../artifacts/find-result.ts";
import { FieldCheck } from "../artifacts/json.ts";

export const REGISTRY_FILE = "workflow_registry/index.json";

interface Workflow {
  readonly id: string;
  readonly version: string;
  readonly terms: ReadonlySet<string>;
  /** Absent counts as med. */
  readonly level: string;
  readonly knownGood: boolean;
}

interface Registry {
  readonly workflows: readonly Workflow[];
  readonly fallback: string | null;
}

interface Candidate {
  readonly workflow_id: string;
  readonly version: string;
  readonly score: number;
  readonly why: string;
}

/** artifacts/find_result.json (Artifact Contracts D). */
interface FindResult {
  readonly schema_version: typeof FIND_RESULT_VERSION;
  readonly selected_workflow_id: string;
  readonly selected_version: string;
  readonly candidates: readonly Candidate[];
  readonly fallback_used: boolean;
}

const BONUS: ReadonlyMap<string, number> = new Map([
  ["low", 30],
  ["med", 10],
  ["high", 0],
]);

const BUILT_IN: Registry = {
  workflows: [
    {
      id: "verbatim_patch_verify",
      version: "1.0.0",
      terms: new Set(["patch", "verify", "bugfix", "feature", "refactor", "docs", "test"]),
      level: "low",
      knownGood: false,
    },
  ],
  fallback: "verbatim_patch_verify",
};

/**
 * Selects a workflow for a goal. `registry` is the parsed index of the repository, or null without one.
 *
 * @example
 * resolveWorkflow("fix hourOf", null).selected_workflow_id; // => "verbatim_patch_verify"
 */
export function resolveWorkflow(goal: string, registry: JsonValue): FindResult {
  const { workflows, fallback } = readRegistry(registry);
  const tokens = toTokens(goal);
  const ranked = workflows
    .map((workflow) => rank(workflow, tokens))
    .sort((a, b) => b.candidate.score - a.candidate.score);
  const first = ranked[0]!;
  const other = first.hits === 0 ? ranked.find(({ candidate }) => candidate.workflow_id === fallback) : undefined;
  const selected = other ?? first;
  const top = ranked.slice(0, 3);
  if (!top.includes(selected)) top[2] = selected;
  return {
    schema_version: FIND_RESULT_VERSION,
    selected_workflow_id: selected.candidate.workflow_id,
    selected_version: selected.candidate.version,
    candidates: top.map(({ candidate }) => candidate),
    fallback_used: other !== undefined,
  };
}

function toTokens(goal: string): Set<string> {
  const tokens = new Set<string>();
  const text = goal.toLowerCase().replaceAll("_", "-");
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu)) {
    tokens.add(word);
    for (const part of word.split("-")) tokens.add(part);
  }
  return tokens;
}

function rank(
  workflow: Workflow,
  tokens: ReadonlySet<string>,
): { readonly hits: number; readonly candidate: Candidate } {
  const hits = sortedByCodePoint([...workflow.terms].filter((term) => tokens.has(term)));
  const bonus = BONUS.get(workflow.level) ?? 5;
  const good = workflow.knownGood ? 3 : 0;
  const why = `hits=${hits.length}(${hits.join(",")}) dependency=${workflow.level}(+${bonus}) last_known_good=${workflow.knownGood ? "yes" : "no"}(+${good})`;
  const score = 100 * hits.length + bonus + good;
  return { hits: hits.length, candidate: { workflow_id: workflow.id, version: workflow.version, score, why } };
}

function readRegistry(value: JsonValue): Registry {
  if (value === null) return BUILT_IN;
  const check = new FieldCheck(REGISTRY_FILE);
  const root = check.object(value, "");
  if (root !== null) check.schemaVersion(root, "ctcp-workflow-index-v1");
  const listed = root === null ? null : check.memberArray(root, "", "workflows");
  const workflows = (listed ?? []).flatMap((row, i) => readWorkflow(row, `/workflows/${i}`, check) ?? []);
  const fallback = root === null ? null : readFallback(root, check);
  if (check.errors.length > 0) throw registryInvalid(check);
  return workflows.length === 0 ? BUILT_IN : { workflows, fallback };
}

function readFallback(root: JsonObject, check: FieldCheck): string | null {
  if (!Object.hasOwn(root, "resolver_policy")) return null;
  const policy = check.memberObject(root, "", "resolver_policy");
  if (policy === null || !Object.hasOwn(policy, "fallback_workflow_id")) return null;
  return check.memberText(policy, "/resolver_policy", "fallback_workflow_id");
}

function readWorkflow(value: JsonValue, at: string, check: FieldCheck): Workflow | null {
  const row = check.object(value, at);
  if (row === null) return null;
  const id = check.memberText(row, at, "id", "not blank");
  const version = check.memberText(row, at, "version", "not blank");
  const terms = new Set<string>();
  for (const key of ["tags", "supported_goals"]) {
    for (const [i, term] of (check.memberArray(row, at, key) ?? []).entries()) {
      if (typeof term === "string") terms.add(term.toLowerCase().replaceAll("_", "-"));
      else check.add("FIELD_TYPE", `${at}/${key}/${i}`, "must be a string");
    }
  }
  const level = Object.hasOwn(row, "dependency_level") ? check.memberText(row, at, "dependency_level") : "med";
  const good = row["last_known_good"];
  if (good !== undefined && good !== null && !isJsonObject(good)) {
    check.add("FIELD_TYPE", `${at}/last_known_good`, "must be an object");
  }
  const knownGood = isJsonObject(good) && good["status"] === "pass";
  return id === null || version === null || level === null ? null : { id, version, terms, level, knownGood };
}

function registryInvalid(check: FieldCheck): VerbatimError {
  const first = check.errors[0]!;
  return new VerbatimError("REGISTRY_INVALID", {
    message: `${REGISTRY_FILE} ${first.at} ${first.message}`,
    where: `${REGISTRY_FILE}#${first.at}`,
    details: { problems: check.errors.map(({ code, at, message }) => ({ code, pointer: at, message })) },
  });
}
