import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import type { Verdict } from "./finding.ts";
import type { Guardrails } from "./guardrails.ts";
import { FieldCheck, validateJson } from "./json.ts";
import { isBlankText } from "./text.ts";
import { isDateOrTime } from "./times.ts";

export const FIND_WEB_FILE = "artifacts/find_web.json";
export const FIND_WEB_VERSION = "ctcp-find-web-v1";

export type WebLimits = Pick<Guardrails, "allow_domains" | "max_queries" | "max_pages">;

const LOCATORS = ["heading", "anchor", "line_range", "offset"];

/** Judges the value of artifacts/find_web.json (Artifact Contracts E). Nothing is fetched. */
export function checkFindWeb(value: JsonValue, limits: WebLimits | null, file = FIND_WEB_FILE): Verdict<JsonObject> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<JsonObject>(null);
  check.schemaVersion(root, FIND_WEB_VERSION);
  const constraints = check.memberObject(root, "", "constraints");
  const bounds = constraints === null ? null : checkConstraints(constraints, limits, check);
  const results = check.memberArray(root, "", "results");
  const pages = new Set<string>();
  for (const [i, result] of (results ?? []).entries()) {
    const page = checkResult(result, `/results/${i}`, bounds?.domains ?? null, check);
    if (page !== null) pages.add(page);
  }
  if (bounds?.pages != null && pages.size > bounds.pages) {
    check.add("FIND_WEB_MAX_PAGES", "/results", `there are ${pages.size} pages; the limit is ${bounds.pages}`);
  }
  checkQueries(root, results ?? [], bounds?.queries ?? null, check);
  return check.verdict(root);
}

/**
 * Judges the bytes of find_web.json.
 *
 * @example
 * validateFindWeb("{}", null).errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateFindWeb(
  bytes: Uint8Array | string,
  limits: WebLimits | null,
  file = FIND_WEB_FILE,
): Verdict<JsonObject> {
  return validateJson(bytes, file, (value) => checkFindWeb(value, limits, file));
}

interface Bounds {
  readonly domains: readonly string[] | null;
  readonly queries: number | null;
  readonly pages: number | null;
}

const ABOVE = "FIND_WEB_CONSTRAINT_ABOVE_GUARDRAILS";

function checkConstraints(constraints: JsonObject, limits: WebLimits | null, check: FieldCheck): Bounds {
  const listed = check.memberArray(constraints, "/constraints", "allow_domains");
  const domains: string[] = [];
  for (const [i, domain] of (listed ?? []).entries()) {
    const at = `/constraints/allow_domains/${i}`;
    if (typeof domain !== "string") check.add("FIELD_TYPE", at, "must be a string");
    else {
      domains.push(toHost(domain));
      if (limits !== null && !isWithin(toHost(domain), limits.allow_domains ?? [])) {
        check.add(ABOVE, at, `${domain} is not one of the guardrails' domains`);
      }
    }
  }
  const count = (key: "max_queries" | "max_pages") => {
    const number = check.memberInteger(constraints, "/constraints", key, 1);
    const most = limits?.[key];
    if (number !== null && limits !== null && (most === undefined || number > most)) {
      check.add(ABOVE, `/constraints/${key}`, `${number} is above the guardrails' limit ${most ?? 0}`);
    }
    return number;
  };
  return { domains: listed === null ? null : domains, queries: count("max_queries"), pages: count("max_pages") };
}

function toHost(domain: string): string {
  const lower = domain.toLowerCase();
  return lower.endsWith(".") ? lower.slice(0, -1) : lower;
}

function isWithin(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}

/** The page of a result (origin, path, query), or null when its URL is not valid. */
function checkResult(
  value: JsonValue,
  at: string,
  domains: readonly string[] | null,
  check: FieldCheck,
): string | null {
  const result = check.object(value, at);
  if (result === null) return null;
  const text = check.memberText(result, at, "url");
  const url = text === null ? null : parseUrl(text);
  if (text !== null && url === null) {
    check.add("FIND_WEB_URL", `${at}/url`, "must be an absolute http or https URL without user name or password");
  }
  if (url !== null && domains !== null && !isWithin(toHost(url.hostname), domains)) {
    check.add("FIND_WEB_DOMAIN", `${at}/url`, `${url.hostname} is not one of allow_domains`);
  }
  const locator = check.memberObject(result, at, "locator");
  if (locator !== null) checkLocator(locator, `${at}/locator`, check);
  const fetched = check.memberText(result, at, "fetched_at");
  if (fetched !== null && !isDateOrTime(fetched)) {
    check.add("FIELD_VALUE", `${at}/fetched_at`, "must be a date or an RFC 3339 time with a zone");
  }
  check.memberText(result, at, "excerpt", "not blank");
  check.memberText(result, at, "why_relevant", "not blank");
  for (const [i, flag] of (check.memberArray(result, at, "risk_flags") ?? []).entries()) {
    if (typeof flag !== "string") check.add("FIELD_TYPE", `${at}/risk_flags/${i}`, "must be a string");
  }
  return url === null ? null : `${url.origin}${url.pathname}${url.search}`;
}

function parseUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const usable = (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
  return usable ? url : null;
}

function checkLocator(locator: JsonObject, at: string, check: FieldCheck): void {
  const type = check.memberText(locator, at, "type");
  const value = check.memberText(locator, at, "value");
  if (type !== null && !LOCATORS.includes(type)) {
    check.add("FIND_WEB_LOCATOR", `${at}/type`, `must be one of ${LOCATORS.join(", ")}`);
  }
  if (value === null) return;
  const fits =
    !isBlankText(value) &&
    (type !== "line_range" || isLineRange(value)) &&
    (type !== "offset" || /^[0-9]+(?:-[0-9]+)?$/.test(value));
  if (!fits) check.add("FIND_WEB_LOCATOR", `${at}/value`, `${JSON.stringify(value)} does not locate anything`);
}

function isLineRange(value: string): boolean {
  const match = /^([0-9]{1,15})-([0-9]{1,15})$/.exec(value);
  if (match === null) return false;
  const [start, end] = [Number(match[1]), Number(match[2])];
  return start >= 1 && start <= end;
}

function checkQueries(root: JsonObject, results: readonly JsonValue[], most: number | null, check: FieldCheck): void {
  const queries = new Set<string>();
  let known = false;
  const note = (query: JsonValue, at: string) => {
    known = true;
    if (typeof query === "string") queries.add(query);
    else check.add("FIELD_TYPE", at, "must be a string");
  };
  if (Object.hasOwn(root, "queries")) {
    known = true;
    const listed = check.memberArray(root, "", "queries") ?? [];
    for (const [i, query] of listed.entries()) note(query, `/queries/${i}`);
  }
  for (const [i, result] of results.entries()) {
    if (isJsonObject(result) && Object.hasOwn(result, "query")) note(result["query"]!, `/results/${i}/query`);
  }
  if (!known) check.warn("FIND_WEB_QUERIES_UNKNOWN", "/queries", "the file does not say which queries were made");
  if (most !== null && queries.size > most) {
    check.add("FIND_WEB_MAX_QUERIES", "/queries", `there are ${queries.size} queries; the limit is ${most}`);
  }
}
