import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  sortedUnique,
} from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { toThose } from "../contracts/visibility.ts";
import { type Author, type Cast, type Channel, WORLD } from "../people/cast.ts";
import { MAX_PEOPLE } from "../people/people.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { readFirstChat } from "./first-chat.ts";
import {
  type ImportedLine,
  type ImportOptions,
  type ImportPlan,
  isBlank,
  Losses,
  NOTHING_BESIDES,
  type Swiped,
} from "./lines.ts";
import { expandMacros, namesChar } from "./macros.ts";
import { toPersonId } from "./person-id.ts";
import { importTooLarge, unknownFormat } from "./refusals.ts";
import { illFormed, parsePlainly } from "./well-formed.ts";

/** A chat by the rules that are asked for. */
export function readChat(cast: Cast, text: string, options: ImportOptions): ImportPlan {
  return options.rules === 2 ? readSecondChat(cast, text, options) : readFirstChat(cast, text);
}

/** What the first line of a chat says. Newer files say `unused` where they have no name. */
export interface ChatHeader {
  readonly user: string | null;
  readonly character: string | null;
  /** Who narrates. */
  readonly narrator: string;
  /** File name of the persona's picture, and name of a book of lore. */
  readonly persona: string | null;
  readonly lore: string | null;
}

const DEFAULT_NARRATOR = "System";
const NO_HEADER: ChatHeader = { user: null, character: null, narrator: DEFAULT_NARRATOR, persona: null, lore: null };

interface Said {
  readonly author: Author;
  readonly channel: Channel;
  readonly name: string | null;
  readonly text: string;
  readonly from: string;
}

/** Reads a chat of one JSON object a line. Its own times are real time and stay in the original. */
function readSecondChat(cast: Cast, text: string, options: ImportOptions): ImportPlan {
  const speakers = new Speakers(cast, options.aliases);
  const losses = new Losses();
  const counts = { lines: 0, entries: 0, hidden: 0, blank: 0, header: 0 };
  const hidden: string[] = [];
  const said: Said[] = [];
  const swipes: Swiped[] = [];
  let header = NO_HEADER;
  for (const [i, line] of splitChat(text).entries()) {
    counts.lines++;
    if (line.trim() === "") {
      counts.blank++;
      continue;
    }
    const from = `line ${i + 1}`;
    const value = readLine(line, from);
    const { mes } = value;
    if (typeof mes !== "string") {
      if (counts.lines - counts.blank > 1) throw unknownFormat(`${from} has no text`, from);
      header = readHeader(value);
      counts.header++;
    } else if (value["is_system"] === true) {
      hidden.push(from);
      counts.hidden++;
    } else if (isBlank(mes)) counts.blank++;
    else {
      const name = typeof value["name"] === "string" ? value["name"] : "";
      if (!mes.isWellFormed() || !name.isWellFormed()) throw illFormed(from);
      const count = readSwipes(value)?.length ?? 0;
      if (count > 1) swipes.push({ index: said.length, line: i + 1, count });
      said.push({ ...speakers.find(value, name, header.narrator), text: mes, from });
    }
  }
  counts.entries = said.length;
  const audience = [cast.operator_id, ...said.map(({ author }) => author.author_id), ...(options.audience ?? [])];
  const visibility = toThose(sortedUnique(audience.filter((id) => id !== WORLD)));
  const lines = said.map(({ author, channel, name, text: mes, from }): ImportedLine => {
    const char = name ?? header.character;
    if (options.expand_names && char === null && namesChar(mes)) losses.add("char_macro", from);
    const expanded = options.expand_names ? expandMacros(mes, { user: cast.operator_name, char }) : mes;
    return { author, channel, text: expanded, visibility, from };
  });
  return {
    ...NOTHING_BESIDES,
    version: "CHAT",
    title: speakers.added[0]?.display_name ?? header.character,
    people: speakers.added,
    present_after: cast.present,
    lines,
    not_imported: hidden,
    lost: losses.list(),
    swipes,
    counts,
  };
}

/** The lines of a chat; what follows the last line feed is one where there is something. */
export function splitChat(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The header of a chat, without reading the rest. */
export function readChatHeader(text: string): ChatHeader {
  const [first] = splitChat(text).filter((line) => line.trim() !== "");
  if (first === undefined) return NO_HEADER;
  const value = readLine(first, "line 1");
  return typeof value["mes"] === "string" ? NO_HEADER : readHeader(value);
}

function readHeader(value: JsonObject): ChatHeader {
  const metadata = isJsonObject(value["chat_metadata"]) ? value["chat_metadata"] : {};
  return {
    user: readName(value["user_name"]),
    character: readName(value["character_name"]),
    narrator: readName(metadata["narrator_name"]) ?? DEFAULT_NARRATOR,
    persona: readName(metadata["persona"]),
    lore: readName(metadata["world_info"]),
  };
}

function readName(value: JsonValue | undefined): string | null {
  return typeof value === "string" && !isBlank(value) && value !== "unused" && value.isWellFormed() ? value : null;
}

/** The texts of a line that was written more than once, as they are; null where it says none. */
export function readSwipes(value: JsonObject): readonly string[] | null {
  const { swipes } = value;
  return Array.isArray(swipes) && swipes.every((one) => typeof one === "string") ? (swipes as readonly string[]) : null;
}

/** Finds who speaks: somebody of that name who is there, or somebody new. */
class Speakers {
  readonly added: { readonly person_id: string; readonly display_name: string }[] = [];
  readonly #cast: Cast;
  readonly #people: Map<string, string>;
  readonly #known: Map<string, string>;

  constructor(cast: Cast, aliases: ReadonlyMap<string, string> = new Map()) {
    this.#cast = cast;
    this.#people = new Map(cast.people);
    this.#known = new Map([...aliases, ...[...cast.people].map(([id, name]) => [name, id] as const)]);
  }

  find(line: JsonObject, name: string, narrator: string): Omit<Said, "text" | "from"> {
    if (line["is_user"] === true) {
      return { author: { author_id: this.#cast.operator_id, author_class: "OPERATOR" }, channel: "USER", name: null };
    }
    const { extra } = line;
    const isNarrator =
      (isJsonObject(extra) && extra["type"] === "narrator") || (name === narrator && !this.#known.has(name));
    if (isNarrator) return { author: { author_id: WORLD, author_class: "WORLD" }, channel: "VOICE", name: null };
    const id = this.#idOf(isBlank(name) ? "Somebody" : name);
    return { author: { author_id: id, author_class: "PERSON" }, channel: "PEOPLE", name: this.#people.get(id)! };
  }

  #idOf(name: string): string {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#people.size >= MAX_PEOPLE) throw importTooLarge(`a world can have at most ${MAX_PEOPLE} people`);
    const display_name = [...name].slice(0, 80).join("");
    const person_id = toPersonId({ operator_id: this.#cast.operator_id, people: this.#people }, name);
    this.#people.set(person_id, display_name);
    this.#known.set(name, person_id);
    this.added.push({ person_id, display_name });
    return person_id;
  }
}

/** One line of a chat. */
export function readLine(line: string, from: string): JsonObject {
  try {
    const value = parseJson(line, { maxDepth: MAX_LEVELS });
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    // Where it stands in something that is not imported, nothing is lost by it.
    if (thrown.code === "JSON_LONE_SURROGATE") return readPlainly(line, from);
  }
  throw unknownFormat(`${from} is not a JSON object`, from);
}

function readPlainly(line: string, from: string): JsonObject {
  const value = parsePlainly(line);
  if (isJsonObject(value)) return value;
  throw unknownFormat(`${from} is not a JSON object`, from);
}
