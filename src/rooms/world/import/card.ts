import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toThose, type Visibility } from "../contracts/visibility.ts";
import { MAX_PRESENT } from "../knowledge/bounds.ts";
import { type Author, type Cast, type Channel, defaultVisibility, WORLD } from "../people/cast.ts";
import { unknownPerson } from "../people/people.ts";
import { MAX_STYLE } from "../settings.ts";
import { readFirstCard } from "./first-card.ts";
import {
  type Greeting,
  type ImportedLine,
  type ImportOptions,
  type ImportPlan,
  isBlank,
  Losses,
  NOTHING_BESIDES,
} from "./lines.ts";
import { type ReadLore, readLoreBook } from "./lore.ts";
import { expandMacros } from "./macros.ts";
import { toBaseId, toPersonId } from "./person-id.ts";
import { unknownFormat } from "./refusals.ts";
import { requireWellFormed } from "./well-formed.ts";

const NEVER_TEXT = ["system_prompt", "post_history_instructions", "creator_notes"] as const;
const MAX_NAME = 80;

/** A card by the rules that are asked for. */
export function readCard(cast: Cast, value: JsonValue, options: ImportOptions): ImportPlan {
  return options.rules === 2 ? readSecondCard(cast, value, options) : readFirstCard(cast, value, options);
}

/**
 * Reads a character card of version 1, 2 or 3: what describes becomes background and lore, samples a setting, and one
 * greeting is said. Instructions in it are never run and never imported as text.
 */
function readSecondCard(cast: Cast, value: JsonValue, options: ImportOptions): ImportPlan {
  requireWellFormed(value);
  const { version, data, root } = findData(value);
  const name = readText(data, "name");
  if (isBlank(name))
    throw new VerbatimError("FIELD_MISSING", { message: "the card has no name", where: `${root}/name` });
  const nickname = version === "V3" ? readText(data, "nickname") : "";
  const displayName = toDisplayName(isBlank(nickname) ? name : nickname);
  const person = findPerson(cast, [name, displayName], options.person);
  const shownName = cast.people.get(person.person_id) ?? displayName;
  const present = options.enter ? sortedUnique([...cast.present, person.person_id]) : cast.present;
  if (present.length > MAX_PRESENT) throw new VerbatimError("PRESENCE_TOO_MANY", { where: "/present" });
  const entered: Cast = { ...cast, people: new Map([...cast.people, [person.person_id, shownName]]), present };
  const expand = (text: string) =>
    options.expand_names ? expandMacros(text, { user: cast.operator_name, char: shownName }) : text;
  const losses = new Losses();
  const { person_id } = person;
  const about = (field: string) =>
    toLine(data, field, root, expand, NARRATED, toThose(sortedUnique([person_id, WORLD])));
  const book = options.no_book === true ? undefined : data["character_book"];
  const scenario = toLine(data, "scenario", root, expand, NARRATED, toThose([WORLD])).map(
    (line): ReadLore => ({ line, rule: ALWAYS }),
  );
  const { lore, not_imported } = readLoreBook(book, `${root}/character_book`, {
    audience: options.lore,
    expand,
    losses,
  });
  const greetings = findGreetings(data, root);
  const said = chooseGreeting(greetings, options.greeting);
  const author: Author = { author_id: person_id, author_class: "PERSON" };
  const descriptions = [...about("description"), ...about("personality")];
  const keyed = [...scenario, ...lore];
  const lines: ImportedLine[] = [
    ...descriptions,
    ...keyed.map(({ line }) => line),
    ...said.map(
      ({ text, from }): ImportedLine => ({
        author,
        channel: "PEOPLE",
        text: expand(text),
        visibility: defaultVisibility(entered, author),
        from,
      }),
    ),
  ];
  const style = toStyle(expand(readText(data, "mes_example")), `${root}/mes_example`, losses);
  const kept = new Set(said.map(({ from }) => from));
  return {
    ...NOTHING_BESIDES,
    version,
    title: displayName,
    people: person.isNew ? [{ person_id, display_name: displayName }] : [],
    person_id,
    card_name: name,
    present_after: present,
    lines,
    not_imported: sortedByCodePoint([
      ...NEVER_TEXT.filter((field) => !isBlank(readText(data, field))).map((field) => `${root}/${field}`),
      ...greetings.filter(({ from }) => !kept.has(from)).map(({ from }) => from),
      ...not_imported,
    ]),
    background: [...descriptions, ...keyed].map((_, i) => i),
    lore: keyed.map(({ rule }, i) => ({ index: descriptions.length + i, ...rule })),
    styles: style === null ? {} : { [person_id]: style },
    greetings,
    lost: losses.list(),
  };
}

const NARRATED = { author: { author_id: WORLD, author_class: "WORLD" }, channel: "VOICE" } as const;
/** The scene of a card is told in every beat, before all lore. */
const ALWAYS = { keys: [], also: [], match: "any", always: true, order: 1_000_000_000, enabled: true } as const;

const V1_TEXTS = ["first_mes", "personality", "scenario", "mes_example"] as const;
const V1_FIELDS: ReadonlySet<string> = new Set([...V1_TEXTS, "name", "description"]);

function findData(value: JsonValue): { readonly version: string; readonly data: JsonObject; readonly root: string } {
  if (!isJsonObject(value)) throw unknownFormat("a card must be a JSON object");
  const spec = value["spec"] ?? undefined;
  if (spec === undefined) {
    const fields = Object.keys(value);
    const isCard = V1_TEXTS.some((field) => typeof value[field] === "string");
    const isNothingElse = fields.length > 0 && fields.every((field) => V1_FIELDS.has(field));
    if (isCard || isNothingElse) return { version: "V1", data: value, root: "" };
    throw unknownFormat("the file is not a card, a lorebook or a chat", "");
  }
  if (spec !== "chara_card_v2" && spec !== "chara_card_v3")
    throw unknownFormat("the card has an unknown version", "/spec");
  const data = value["data"];
  if (!isJsonObject(data))
    throw new VerbatimError("FIELD_MISSING", { message: "the card has no data", where: "/data" });
  return { version: spec === "chara_card_v2" ? "V2" : "V3", data, root: "/data" };
}

/** For whom a card writes. Somebody of its name may be meant, and nobody but the caller can say. */
function findPerson(
  cast: Cast,
  names: readonly string[],
  wanted: string | undefined,
): { readonly person_id: string; readonly isNew: boolean } {
  if (wanted !== undefined && wanted !== "new") {
    if (!cast.people.has(wanted)) throw unknownPerson(wanted, "/person");
    return { person_id: wanted, isNew: false };
  }
  const folded = new Set(names.map(fold));
  const base = toBaseId(names[0]!);
  const matching = [...cast.people].filter(([id, name]) => id === base || folded.has(fold(name))).map(([id]) => id);
  if (matching.length > 0 && wanted === undefined) {
    throw new VerbatimError("IMPORT_PERSON_MATCHES", {
      message: `the name of the card is that of ${matching.join(", ")}`,
      where: "/person",
      details: { person_ids: sortedByCodePoint(matching) },
    });
  }
  return { person_id: toPersonId(cast, names[0]!), isNew: true };
}

function fold(name: string): string {
  return name.normalize("NFKC").toLowerCase().trim();
}

function findGreetings(data: JsonObject, root: string): Greeting[] {
  const listed = (field: string) =>
    (Array.isArray(data[field]) ? (data[field] as readonly JsonValue[]) : []).map((text, i) => ({
      text,
      from: `${root}/${field}/${i}`,
    }));
  const all = [
    { text: data["first_mes"], from: `${root}/first_mes` },
    ...listed("alternate_greetings"),
    ...listed("group_only_greetings"),
  ];
  return all.flatMap(({ text, from }, index) =>
    typeof text === "string" && !isBlank(text) ? [{ index, from, text }] : [],
  );
}

function chooseGreeting(greetings: readonly Greeting[], wanted: number | "none" | undefined): readonly Greeting[] {
  if (wanted === "none") return [];
  const chosen = greetings.filter(({ index }) => index === (wanted ?? 0));
  if (chosen.length > 0 || wanted === undefined) return chosen;
  throw new VerbatimError("INPUT_INVALID", {
    message: `the card has no greeting ${wanted}; it has ${greetings.map(({ index }) => index).join(", ") || "none"}`,
    where: "/greeting",
  });
}

/** A sample as a setting may hold it: its beginning, to the end of a line, where it is too long. */
function toStyle(text: string, where: string, losses: Losses): string | null {
  if (isBlank(text)) return null;
  if (text.length <= MAX_STYLE) return text;
  losses.add("sample_cut", where);
  const start = text.slice(0, MAX_STYLE);
  const end = start.lastIndexOf("\n");
  if (end > 0 && !isBlank(start.slice(0, end))) return start.slice(0, end);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

function toLine(
  data: JsonObject,
  field: string,
  root: string,
  expand: (text: string) => string,
  by: { readonly author: Author; readonly channel: Channel },
  visibility: Visibility,
): ImportedLine[] {
  const text = readText(data, field);
  return isBlank(text) ? [] : [{ ...by, visibility, text: expand(text), from: `${root}/${field}` }];
}

function readText(data: JsonObject, field: string): string {
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  return typeof value === "string" ? value : "";
}

/** At most 80 characters, whole ones. */
function toDisplayName(name: string): string {
  return [...name].slice(0, MAX_NAME).join("");
}
