import { decodeUtf8, isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { type ChatHeader, readChat, readChatHeader, readLine, splitChat } from "../import/chat.ts";
import { findCard } from "../import/find-card.ts";
import { type ImportOptions, isBlank } from "../import/lines.ts";
import { readImport, requireWritable } from "../import/read.ts";
import { unknownFormat } from "../import/refusals.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { Cast } from "../people/cast.ts";
import { type ChatParts, type PlannedFile, toAbout, type UsedFile } from "./carry-chat.ts";
import { type ProfileFile, stemOf } from "./classify.ts";
import type { ProfileContext } from "./profile.ts";
import type { FileKind } from "./report.ts";
import { findPersona } from "./settings-file.ts";
import type { ProfileSource } from "./source.ts";

const HOW: ImportOptions = { expand_names: true, lore: "world", enter: true, rules: 2, greeting: "none" };
const MAX_TITLE = 120;
const MAX_NAME = 80;

interface Loaded {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** Finds everything that belongs to a chat: cards, lore, and who the user was. */
export async function planChat(
  ports: WorldPorts,
  context: ProfileContext,
  file: ProfileFile,
  bytes: Uint8Array,
  sha256: string,
): Promise<ChatParts> {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) throw unknownFormat("the file is not UTF-8 text");
  const text = decoded.replace(/^\ufeff/, "");
  const header = readChatHeader(text);
  const folder = /^chats\/([^/]+)\//i.exec(file.name)?.[1] ?? null;
  const group = file.kind === "group-chat" ? findGroup(context, stemOf(file.name)) : null;
  const stems = group !== null ? group.members.map(stemOf) : folder === null ? [] : [folder];
  const cards = await loadAll(
    ports,
    context,
    stems.flatMap((stem) => CARDS.map((ending) => `characters/${stem}${ending}`)),
  );
  const own = new Map(cards.map((card) => [card.path, findBook(ports, card.bytes)]));
  const lore = await loadAll(ports, context, booksOf(context, header, [...own.values()], stems));
  const user = findUser(header, text);
  const persona = findPersona(context.settings, header.persona, user);
  const operator_name = toName(persona?.name ?? user) ?? "George";
  const face = persona === null ? [] : await loadAll(ports, context, [`User Avatars/${persona.id}`]);
  const who = group?.name ?? header.character ?? folder ?? "Chat";
  return {
    path: file.path,
    sha256,
    title: toTitle(`${who} - ${stemOf(file.name)}`),
    operator_name,
    presets: context.presets,
    persona: persona === null ? null : { name: operator_name, about: toAbout(persona.about, operator_name) },
    picture: face[0] ?? null,
    plan: (cast) =>
      planFiles(ports, cast, { cards, own, lore, chat: { path: file.path, sha256, bytes }, text, header, stems }),
  };
}

const CARDS = [".png", ".json", ".charx"] as const;

interface Files {
  readonly cards: readonly Loaded[];
  /** The book that each card names, by the path of the card. */
  readonly own: ReadonlyMap<string, string | null>;
  readonly lore: readonly Loaded[];
  readonly chat: Loaded;
  readonly text: string;
  readonly header: ChatHeader;
  readonly stems: readonly string[];
}

/** Each file is planned for the world as the ones before it leave it. */
function planFiles(ports: WorldPorts, before: Cast, { cards, own, lore, chat, text, header, stems }: Files) {
  let cast = before;
  const files: PlannedFile[] = [];
  const failed: UsedFile[] = [];
  const aliases = new Map<string, string>();
  const audience: string[] = [];
  const take = (file: Loaded, options: ImportOptions): void => {
    try {
      const plan = readImport(cast, file.bytes, options, ports.inflater);
      files.push({ ...file, plan });
      const named = plan.people.map(({ person_id, display_name }) => [person_id, display_name] as const);
      cast = { ...cast, people: new Map([...cast.people, ...named]), present: plan.present_after };
      if (plan.person_id === null) return;
      audience.push(plan.person_id);
      if (plan.card_name !== null) aliases.set(plan.card_name, plan.person_id);
      const [only] = stems;
      if (stems.length === 1)
        for (const name of [header.character, only!]) if (name !== null) aliases.set(name, plan.person_id);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      const { path, sha256 } = file;
      failed.push({ path, sha256, lost: [], code: thrown.code, where: thrown.where ?? thrown.message });
    }
  };
  for (const card of cards) {
    const book = own.get(card.path) ?? null;
    // The book inside a card is where the one it names came from; both would say everything twice.
    const no_book = book !== null && lore.some(({ path }) => path.endsWith(`worlds/${book}.json`));
    take(card, { ...HOW, person: "new", no_book });
  }
  for (const book of lore) take(book, HOW);
  const options = { ...HOW, audience, aliases };
  const plan = readChat(cast, text, options);
  requireWritable(plan, options);
  files.push({ ...chat, plan });
  return { files, failed };
}

function findGroup({ groups }: ProfileContext, stem: string) {
  return groups.find(({ group }) => group.chats.has(stem))?.group ?? null;
}

/** Books of lore: those that hold everywhere, of the characters and of the chat; each once. */
function booksOf(
  { settings }: ProfileContext,
  header: ChatHeader,
  own: readonly (string | null)[],
  stems: readonly string[],
): string[] {
  const names = [
    ...settings.books,
    ...own.filter((name) => name !== null),
    ...stems.flatMap((stem) => settings.books_of.get(stem) ?? []),
    ...(header.lore === null ? [] : [header.lore]),
  ];
  return [...new Set(names)].map((name) => `worlds/${name}.json`);
}

/** The book of lore that a card names. */
function findBook({ inflater }: WorldPorts, bytes: Uint8Array): string | null {
  try {
    const value = parseJson(findCard(inflater, bytes, 2).json);
    const data = isJsonObject(value) ? value["data"] : null;
    const extensions = isJsonObject(data) ? data["extensions"] : null;
    const name = isJsonObject(extensions) ? extensions["world"] : null;
    return typeof name === "string" && name !== "" ? name : null;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    // What is wrong with the card is told when it is planned.
    return null;
  }
}

const LOADED: ReadonlySet<FileKind> = new Set(["character", "lore", "picture"]);

/** The files of a profile that are there and can be read; what is wrong with the others is told of themselves. */
async function loadAll(
  ports: WorldPorts,
  { source, files }: ProfileContext,
  names: readonly string[],
): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  for (const name of names) {
    const file = files.get(name);
    if (file === undefined || !LOADED.has(file.kind)) continue;
    const bytes = await readOrNull(source, file.path);
    if (bytes === null) continue;
    loaded.push({ path: file.path, sha256: ports.crypto.sha256(bytes), bytes });
  }
  return loaded;
}

async function readOrNull(source: ProfileSource, path: string): Promise<Uint8Array | null> {
  return source.read(path).catch((thrown: unknown) => {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  });
}

/** Whoever the user was in a chat: by its header, else by their first line. */
function findUser(header: ChatHeader, text: string): string | null {
  if (header.user !== null) return header.user;
  for (const [i, line] of splitChat(text).entries()) {
    if (!/"is_user"\s*:\s*true/.test(line)) continue;
    const { name } = readLine(line, `line ${i + 1}`);
    return typeof name === "string" && !isBlank(name) && name.isWellFormed() ? name : null;
  }
  return null;
}

function toName(name: string | null): string | null {
  return name === null || isBlank(name) ? null : [...name].slice(0, MAX_NAME).join("");
}

function toTitle(title: string): string {
  const whole = title.toWellFormed();
  if (whole.length <= MAX_TITLE) return whole;
  return whole.slice(0, MAX_TITLE).replace(/[\ud800-\udbff]$/, "");
}
