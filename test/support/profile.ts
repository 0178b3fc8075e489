import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pngCard, pngPicture } from "./pictures.ts";

/** A card of a lighthouse keeper who has a book of her own and names one of the profile. */
const MIRA = {
  spec: "chara_card_v2",
  data: {
    name: "Mira",
    description: "{{char}} keeps the lighthouse.",
    first_mes: "Mind the step.",
    character_book: { entries: [{ keys: ["lamp"], content: "The lamp burns oil." }] },
    extensions: { world: "Gull Rock" },
  },
};

const BOOK = { entries: { 0: { key: ["lamp"], content: "The lamp of Gull Rock is green.", order: 1 } } };

const SETTINGS = {
  power_user: {
    personas: { "captain.png": "Captain George", "other.png": "Nobody" },
    persona_descriptions: { "captain.png": { description: "{{user}} is an old captain." } },
  },
  // Where a key may stand: none of it may ever be kept.
  proxy_password: "sk-never-kept",
};

/** One chat of a profile: a header, a hidden and a blank line, and as many lines as are asked for. */
export function chatOf(lines: number, seed = 0, character = "Mira"): string {
  const header = { user_name: "unused", character_name: "unused", chat_metadata: { persona: "captain.png" } };
  const said = Array.from({ length: lines }, (_, i) =>
    i % 2 === 0
      ? { name: "Captain George", is_user: true, mes: `Line ${i} of ${seed}.` }
      : {
          name: character,
          is_user: false,
          mes: `I heard line ${i} of ${seed}, {{user}}.`,
          swipes: ["a", "b"],
          swipe_id: 1,
        },
  );
  const hidden = { name: "Note", is_system: true, mes: "a note" };
  return `${[header, hidden, ...said].map((one) => JSON.stringify(one)).join("\n")}\n\n`;
}

/** The files of a profile with so many chats, the first ones broken: one cut, one without a text, one in no known text. */
export function profileFiles(chats: number, broken: 0 | 3, lines = 4): Map<string, string | Buffer> {
  const files = new Map<string, string | Buffer>([
    ["characters/Mira.png", pngCard(MIRA)],
    ["characters/Alone.json", JSON.stringify({ name: "Alone", first_mes: "Hm." })],
    ["characters/Broken.png", pngPicture()],
    ["worlds/Gull Rock.json", JSON.stringify(BOOK)],
    ["worlds/Unused.json", JSON.stringify(BOOK)],
    ["settings.json", JSON.stringify(SETTINGS)],
    ["secrets.json", '{"api_key_openai":[{"value":"sk-never-opened"}]}'],
    ["User Avatars/captain.png", pngPicture()],
    [
      "groups/1.json",
      JSON.stringify({ name: "Harbour", members: ["Mira.png"], chats: ["evening"], chat_id: "evening" }),
    ],
    ["group chats/evening.jsonl", chatOf(4, 1000)],
    ["OpenAI Settings/Calm.json", JSON.stringify({ temperature: 0.4, top_p: 7, proxy_password: "sk-never-kept" })],
    ["TextGen Settings/Wild.json", JSON.stringify({ temp: 1.5, rep_pen: 1.1, seed: -1 })],
    ["backups/chat_old.jsonl", chatOf(4)],
    ["thumbnails/a.png", pngPicture()],
  ]);
  for (let i = 0; i < chats; i++) files.set(`chats/Mira/chat ${String(i).padStart(3, "0")}.jsonl`, chatOf(lines, i));
  if (broken === 0) return files;
  files.set("chats/Mira/chat 000.jsonl", `${chatOf(4)}{"name":"Mira","mes":"cut`);
  files.set("chats/Mira/chat 001.jsonl", `${chatOf(4)}{"name":"Mira"}\n`);
  files.set("chats/Mira/chat 002.jsonl", Buffer.from([0x7b, 0xff, 0xfe]));
  return files;
}

/** The same in a folder, with a link that leads out of it. */
export function writeProfile(folder: string, files: ReadonlyMap<string, string | Buffer>): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  symlinkSync("/etc/hostname", join(folder, "chats/Mira/linked.jsonl"));
}
