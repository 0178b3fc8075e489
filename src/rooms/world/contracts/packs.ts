import type { JsonValue } from "../../../core/canonical/index.ts";
import { isAllowed } from "../knowledge/gate.ts";
import { isSomebody } from "../people/cast.ts";
import { SEARCH_EXCERPT, toExcerpt } from "../retrieval/excerpt.ts";
import { type CheckContext, type LedgerEntry, requestId, timeText } from "./context.ts";
import { boolean, optional, readObject, refuse, requireArray, required, shortId, text } from "./fields.ts";
import { lintPack } from "./lint.ts";
import { SCOPES, type Scope } from "./visibility.ts";

export interface RetrievalResult {
  readonly entry_id: string;
  readonly bundle_id: string;
  readonly created_at_world: string;
  readonly visibility_scope: Scope;
  readonly verbatim_excerpt: string;
}

/** What the ledger answers to a writer: quotations, never interpretation. */
export interface RetrievalResultPack {
  readonly tool_request_id: string;
  readonly request_id: string;
  readonly results: readonly RetrievalResult[];
  readonly empty: boolean;
  readonly notes: string | null;
}

/**
 * World Contracts 6: evidence, never interpretation.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkRetrievalPack>[1];
 * const pack = checkRetrievalPack(parseJson(await readFile("pack.json")), context);
 */
export function checkRetrievalPack(value: JsonValue, context: CheckContext): RetrievalResultPack {
  const pack = readObject(value, "", {
    tool_request_id: required((id, where) => {
      const read = shortId(id, where);
      if (context.tool_request_id !== undefined && read !== context.tool_request_id) {
        refuse("TOOL_REQUEST_ID_MISMATCH", where, `must be ${context.tool_request_id}`);
      }
      return read;
    }),
    request_id: required(requestId(context)),
    results: required((list, where) =>
      requireArray(list, where).map((item, i) => readResult(item, `${where}/${i}`, context)),
    ),
    empty: required(boolean),
    notes: optional(text()),
  });
  if (pack.empty !== (pack.results.length === 0))
    refuse("EMPTY_FLAG_MISMATCH", "/empty", "does not agree with the results");
  return pack;
}

function readResult(value: JsonValue, where: string, context: CheckContext): RetrievalResult {
  const result = readObject(value, where, {
    entry_id: required(shortId),
    bundle_id: required(shortId),
    created_at_world: required(timeText),
    visibility_scope: required(text<Scope>({ values: SCOPES })),
    verbatim_excerpt: required(text()),
  });
  if (context.entries === undefined) return result;
  const entry = findVisible(context, result.entry_id);
  if (entry === null) return refuse("RESULT_NOT_VISIBLE", `${where}/entry_id`, "is not an entry of this view");
  if (!entry.text.includes(result.verbatim_excerpt)) {
    refuse("EXCERPT_NOT_VERBATIM", `${where}/verbatim_excerpt`, "is not an exact part of the entry");
  }
  if (entry.visibility.scope !== result.visibility_scope) {
    refuse("FIELD_VALUE", `${where}/visibility_scope`, "differs from the ledger");
  }
  return result;
}

/** The entry, when it exists and the view may see it; hidden and unknown are the same. */
function findVisible({ cast, view, entries }: CheckContext, id: string): LedgerEntry | null {
  const entry = entries?.get(id);
  if (entry === undefined || view === undefined) return null;
  return isAllowed(cast, view, entry) ? entry : null;
}

/** The setting of a scene, made once. */
export interface SceneAnchorPack {
  readonly scene_anchor_id: string;
  readonly request_id: string;
  readonly created_at_world: string;
  readonly text: string;
  readonly provenance: { readonly used_entry_ids: readonly string[] };
}

/**
 * World Contracts 7: the setting of a scene, made once.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkSceneAnchor>[1];
 * const pack = checkSceneAnchor(parseJson(await readFile("pack.json")), context);
 */
export function checkSceneAnchor(value: JsonValue, context: CheckContext): SceneAnchorPack {
  const pack = readObject(value, "", {
    scene_anchor_id: required(text()),
    request_id: required(requestId(context)),
    created_at_world: required(timeText),
    text: required(text({ visible: true })),
    provenance: required((inner, where) =>
      readObject(inner, where, { used_entry_ids: required((list, at) => readSources(list, at, context, 1)) }),
    ),
  });
  lint(pack.text, "/text", context, pack.provenance.used_entry_ids);
  return pack;
}

/** What a writer is given again near the limit of its window. */
export interface RehydrationPack {
  readonly rehydration_id: string;
  readonly request_id: string;
  readonly created_at_world: string;
  readonly text: string;
  readonly physical_continuity_replay: string;
  readonly provenance: { readonly used_entry_ids: readonly string[]; readonly used_capsule_ids: readonly string[] };
  readonly trigger: { readonly kind: "TOKEN_BUDGET"; readonly threshold: string };
}

/**
 * World Contracts 8: recovery near the limit of the window.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkRehydration>[1];
 * const pack = checkRehydration(parseJson(await readFile("pack.json")), context);
 */
export function checkRehydration(value: JsonValue, context: CheckContext): RehydrationPack {
  const pack = readObject(value, "", {
    rehydration_id: required(text()),
    request_id: required(requestId(context)),
    created_at_world: required(timeText),
    text: required(text({ visible: true })),
    physical_continuity_replay: required(text({ visible: true })),
    provenance: required((inner, where) =>
      readObject(inner, where, {
        used_entry_ids: required((list, at) => readSources(list, at, context, 1)),
        used_capsule_ids: required((list, at) => requireArray(list, at).map((id, i) => text()(id, `${at}/${i}`))),
      }),
    ),
    trigger: required((inner, where) =>
      readObject(inner, where, {
        kind: required(text<"TOKEN_BUDGET">({ values: ["TOKEN_BUDGET"] })),
        threshold: required(text()),
      }),
    ),
  });
  lint(pack.text, "/text", context, pack.provenance.used_entry_ids);
  lint(pack.physical_continuity_replay, "/physical_continuity_replay", context, pack.provenance.used_entry_ids);
  return pack;
}

interface CapsuleSection {
  readonly name: "SOURCE_EXCERPTS" | "OPTIONAL_DERIVED";
  readonly text: string;
  readonly provenance: { readonly used_entry_ids: readonly string[] };
}

/** What one person has said, quoted from the ledger. */
export interface CapsulePack {
  readonly capsule_id: string;
  readonly person_id: string;
  readonly created_at_world: string;
  readonly sections: readonly CapsuleSection[];
}

/**
 * World Contracts 9: what one person has said, quoted.
 *
 * @example
 * import { readFile } from "node:fs/promises";
 * import { parseJson } from "verbatim-agent";
 *
 * declare const context: Parameters<typeof checkCapsule>[1];
 * const pack = checkCapsule(parseJson(await readFile("pack.json")), context);
 */
export function checkCapsule(value: JsonValue, context: CheckContext): CapsulePack {
  let person = "";
  const pack = readObject(value, "", {
    capsule_id: required(text()),
    person_id: required(
      text({
        rule(id, where) {
          if (!isSomebody(context.cast, id))
            refuse("PERSON_UNKNOWN", where, `there is no person ${JSON.stringify(id)} in this world`);
          person = id;
        },
      }),
    ),
    created_at_world: required(timeText),
    sections: required((list, where) => readSections(list, where, context, person)),
  });
  return pack;
}

const DERIVED_MARK = "Non-authoritative note:";

function readSections(
  value: JsonValue,
  where: string,
  context: CheckContext,
  person: string,
): readonly CapsuleSection[] {
  const seen = new Set<string>();
  const sections = requireArray(value, where).map((item, i) => {
    const at = `${where}/${i}`;
    const section = readObject(item, at, {
      name: required(text<CapsuleSection["name"]>({ values: ["SOURCE_EXCERPTS", "OPTIONAL_DERIVED"] })),
      text: required(text({ mayBeEmpty: true })),
      provenance: required((inner, place) =>
        readObject(inner, place, { used_entry_ids: required((ids, here) => readSources(ids, here, context, 0)) }),
      ),
    });
    if (seen.has(section.name)) refuse("CAPSULE_SECTION_DUPLICATE", `${at}/name`, `${section.name} appears twice`);
    seen.add(section.name);
    if (section.name === "SOURCE_EXCERPTS") requireVerbatim(section, at, context, person);
    else requireMarked(section, at, context);
    return section;
  });
  if (!seen.has("SOURCE_EXCERPTS")) refuse("CAPSULE_SOURCE_MISSING", where, "has no SOURCE_EXCERPTS");
  return sections;
}

function requireVerbatim(section: CapsuleSection, where: string, context: CheckContext, person: string): void {
  const ids = section.provenance.used_entry_ids;
  const at = `${where}/provenance/used_entry_ids`;
  if (ids.length === 0 && section.text !== "") refuse("PROVENANCE_EMPTY", at, "has text but no sources");
  if (context.entries === undefined) return;
  const excerpts = ids.map((id, i) => {
    const entry = context.entries!.get(id)!;
    if (entry.author.author_id !== person) refuse("CAPSULE_WRONG_AUTHOR", `${at}/${i}`, `was not written by ${person}`);
    return toExcerpt(context.graphemes, entry.text, SEARCH_EXCERPT);
  });
  if (excerpts.join("\n") !== section.text) {
    refuse("CAPSULE_NOT_VERBATIM", `${where}/text`, "differs from the excerpts of its sources");
  }
}

function requireMarked(section: CapsuleSection, where: string, context: CheckContext): void {
  if (!section.text.startsWith(DERIVED_MARK)) {
    refuse("CAPSULE_DERIVED_UNMARKED", `${where}/text`, `must start with ${DERIVED_MARK}`);
  }
  if (section.provenance.used_entry_ids.length === 0) {
    refuse("PROVENANCE_EMPTY", `${where}/provenance/used_entry_ids`, "needs at least one source");
  }
  // A derived note is nobody's line, so nothing of it is taken out first.
  lint(section.text, `${where}/text`, context, []);
}

function readSources(value: JsonValue, where: string, context: CheckContext, least: number): readonly string[] {
  const seen = new Set<string>();
  const ids = requireArray(value, where).map((item, i) => {
    const at = `${where}/${i}`;
    const id = shortId(item, at);
    if (seen.has(id)) refuse("PROVENANCE_DUPLICATE", at, `${id} is listed twice`);
    seen.add(id);
    if (context.entries !== undefined && findVisible(context, id) === null) {
      refuse("PROVENANCE_NOT_VISIBLE", at, "is not an entry of this view");
    }
    return id;
  });
  if (ids.length < least) refuse("PROVENANCE_EMPTY", where, "needs at least one source");
  return ids;
}

function lint(textToCheck: string, where: string, context: CheckContext, used: readonly string[]): void {
  const entries = used.flatMap((id) => context.entries?.get(id) ?? []);
  const found = lintPack(context.cast, textToCheck, entries);
  if (found !== null) refuse(found, where, "is not natural language from the ledger");
}
