import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  sortedByCodePoint,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toThose } from "../contracts/visibility.ts";
import { MAX_PRESENT } from "../knowledge/bounds.ts";
import { type Cast, defaultVisibility, WORLD } from "../people/cast.ts";
import { readFirstLoreBook } from "./first-lore.ts";
import { type ImportedLine, type ImportOptions, type ImportPlan, isBlank, NOTHING_BESIDES } from "./lines.ts";
import { toPersonId } from "./person-id.ts";
import { unknownFormat } from "./refusals.ts";

const NEVER_TEXT = ["system_prompt", "post_history_instructions", "creator_notes"] as const;
const MAX_NAME = 80;

/**
 * Reads a character card of version 1, 2 or 3 by the first rules, in which everything is a line. Instructions in it are
 * never run and never imported as text.
 */
export function readFirstCard(cast: Cast, value: JsonValue, options: ImportOptions): ImportPlan {
  const { version, data, root } = findData(value);
  const name = readText(data, "name");
  if (isBlank(name)) throw unknownFormat("the card has no name");
  const personId = toPersonId(cast, name);
  const nickname = version === "V3" ? readText(data, "nickname") : "";
  const displayName = toDisplayName(isBlank(nickname) ? name : nickname);
  const present = options.enter ? sortedUnique([...cast.present, personId]) : cast.present;
  if (present.length > MAX_PRESENT) throw new VerbatimError("PRESENCE_TOO_MANY", { where: "/present" });
  const entered: Cast = { ...cast, people: new Map([...cast.people, [personId, displayName]]), present };
  const expand = (text: string) =>
    options.expand_names
      ? text.replace(/\{\{(char|user)\}\}/gi, (_, who: string) =>
          who.toLowerCase() === "char" ? displayName : cast.operator_name,
        )
      : text;
  const author = { author_id: personId, author_class: "PERSON" } as const;
  const own = (field: string): ImportedLine[] =>
    line(data, field, root, expand, {
      author,
      channel: "PEOPLE",
      visibility: toThose(sortedUnique([personId, WORLD])),
    });
  const lore = readFirstLoreBook(data["character_book"], `${root}/character_book`, options.lore);
  const lines = [
    ...own("description"),
    ...own("personality"),
    ...line(data, "scenario", root, expand, {
      author: { author_id: WORLD, author_class: "WORLD" },
      channel: "VOICE",
      visibility: toThose([WORLD]),
    }),
    ...own("mes_example"),
    ...lore.lines.map((one) => ({ ...one, text: expand(one.text) })),
    ...line(data, "first_mes", root, expand, {
      author,
      channel: "PEOPLE",
      visibility: defaultVisibility(entered, author),
    }),
  ];
  return {
    ...NOTHING_BESIDES,
    version,
    title: displayName,
    person_id: personId,
    people: [{ person_id: personId, display_name: displayName }],
    present_after: present,
    lines,
    not_imported: sortedByCodePoint([...findNeverText(data, root), ...lore.not_imported]),
  };
}

function findData(value: JsonValue): { version: string; data: JsonObject; root: string } {
  if (!isJsonObject(value)) throw unknownFormat("a card must be a JSON object");
  const spec = value["spec"] ?? undefined;
  if (spec === undefined && typeof value["name"] === "string") return { version: "V1", data: value, root: "" };
  const data = value["data"];
  if ((spec === "chara_card_v2" || spec === "chara_card_v3") && isJsonObject(data)) {
    return { version: spec === "chara_card_v2" ? "V2" : "V3", data, root: "/data" };
  }
  throw unknownFormat("the card has an unknown version");
}

function line(
  data: JsonObject,
  field: string,
  root: string,
  expand: (text: string) => string,
  rest: Omit<ImportedLine, "text" | "from">,
): ImportedLine[] {
  const text = readText(data, field);
  return isBlank(text) ? [] : [{ ...rest, text: expand(text), from: `${root}/${field}` }];
}

function findNeverText(data: JsonObject, root: string): string[] {
  const fields = NEVER_TEXT.filter((field) => !isBlank(readText(data, field))).map((field) => `${root}/${field}`);
  const greetings = Array.isArray(data["alternate_greetings"]) ? (data["alternate_greetings"] as JsonValue[]) : [];
  const other = greetings.flatMap((text, i) =>
    typeof text === "string" && !isBlank(text) ? [`${root}/alternate_greetings/${i}`] : [],
  );
  return [...fields, ...other];
}

function readText(data: JsonObject, field: string): string {
  const value = Object.hasOwn(data, field) ? data[field] : undefined;
  return typeof value === "string" ? value : "";
}

/** At most 80 characters, whole ones. */
function toDisplayName(name: string): string {
  return [...name].slice(0, MAX_NAME).join("");
}
