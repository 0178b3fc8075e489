import { Float, isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { isBlank } from "../import/lines.ts";
import { type Sampling, samplingSchema } from "../writer/writer-settings.ts";

/** Somebody whom the user played, by the file name of their picture. */
export interface ProfilePersona {
  readonly id: string;
  readonly name: string;
  readonly about: string | null;
}

/** What a profile's settings say that worlds have a place for. Keys and addresses are not looked at. */
export interface ProfileSettings {
  readonly personas: readonly ProfilePersona[];
  /** Books of lore that hold everywhere, and those of characters by the stem of their card. */
  readonly books: readonly string[];
  readonly books_of: ReadonlyMap<string, readonly string[]>;
}

export const NO_SETTINGS: ProfileSettings = { personas: [], books: [], books_of: new Map() };

export function readSettings(value: JsonValue): ProfileSettings {
  if (!isJsonObject(value)) return NO_SETTINGS;
  const user = asObject(value["power_user"]);
  const names = asObject(user["personas"]);
  const descriptions = asObject(user["persona_descriptions"]);
  const personas = Object.keys(names).flatMap((id): ProfilePersona[] => {
    const name = names[id];
    if (typeof name !== "string" || isBlank(name) || !name.isWellFormed() || !id.isWellFormed()) return [];
    const { description } = asObject(descriptions[id]);
    const isSaid = typeof description === "string" && !isBlank(description) && description.isWellFormed();
    return [{ id, name: [...name].slice(0, 80).join(""), about: isSaid ? description : null }];
  });
  const info = asObject(value["world_info_settings"]);
  const inner = asObject(info["world_info"]);
  const books_of = new Map<string, readonly string[]>();
  for (const one of asList(inner["charLore"] ?? info["charLore"])) {
    const { name, extraBooks } = asObject(one);
    if (typeof name === "string") books_of.set(name, asTexts(extraBooks));
  }
  return { personas, books: asTexts(inner["globalSelect"]), books_of };
}

/** The persona a chat was played as: the one it is bound to, or the one of the name that stands in it. */
export function findPersona(
  { personas }: ProfileSettings,
  bound: string | null,
  name: string | null,
): ProfilePersona | null {
  return personas.find(({ id }) => id === bound) ?? personas.find((one) => one.name === name) ?? null;
}

/** A preset of a profile as sampling, and what of it no writer takes. */
export function readPreset(value: JsonValue): {
  readonly sampling: Sampling | null;
  readonly refused: readonly string[];
} {
  const preset = asObject(value);
  const refused: string[] = [];
  const sampling: Record<string, unknown> = {};
  for (const [name, fields] of Object.entries(SAMPLERS)) {
    const field = fields.find((one) => preset[one] !== undefined);
    const given = field === undefined ? undefined : preset[field];
    const number = given instanceof Float ? given.value : given;
    // What is off is said by numbers that no model takes.
    if (typeof number !== "number" || (name === "seed" && number < 0)) continue;
    const parsed = samplingSchema.safeParse({ [name]: number });
    if (parsed.success) sampling[name] = number;
    else refused.push(field!);
  }
  return { sampling: Object.keys(sampling).length === 0 ? null : samplingSchema.parse(sampling), refused };
}

const SAMPLERS: Readonly<Record<string, readonly string[]>> = {
  temperature: ["temperature", "temp"],
  top_p: ["top_p"],
  min_p: ["min_p"],
  top_k: ["top_k"],
  repeat_penalty: ["repetition_penalty", "rep_pen"],
  presence_penalty: ["presence_penalty", "presence_pen"],
  frequency_penalty: ["frequency_penalty", "freq_pen"],
  seed: ["seed"],
};

/** Who is in a group and which chats are theirs. */
export interface ProfileGroup {
  readonly name: string;
  /** File names of cards. */
  readonly members: readonly string[];
  readonly chats: ReadonlySet<string>;
}

export function readGroup(value: JsonValue): ProfileGroup {
  const { name, members, chats, chat_id, id } = asObject(value);
  const own = [chat_id, id].filter((one) => typeof one === "string");
  return {
    name: typeof name === "string" && !isBlank(name) && name.isWellFormed() ? name : "Group",
    members: asTexts(members),
    chats: new Set([...asTexts(chats), ...own]),
  };
}

function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function asTexts(value: JsonValue | undefined): string[] {
  return asList(value).filter((one) => typeof one === "string");
}
