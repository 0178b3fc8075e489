import { VerbatimError } from "../../../core/errors/index.ts";
import { makeOnce } from "../history/once.ts";
import { addWorld, planWorld, toWorldId } from "../history/worlds.ts";
import { castOfNew, keepPicture, writePlan } from "../import/imports.ts";
import type { ImportPlan } from "../import/lines.ts";
import { expandMacros } from "../import/macros.ts";
import type { WorldPorts, WorldWriteTransaction } from "../operations/ports.ts";
import { setAvatarIn } from "../people/avatars.ts";
import type { Cast } from "../people/cast.ts";
import { writePersona } from "../people/persona.ts";
import { type OpenWorld, openRow } from "../projection/reading.ts";
import type { Sampling } from "../writer/writer-settings.ts";
import { type ChatTotals, type FileRow, toLost } from "./report.ts";

/** A file that becomes part of a world, as it was planned for the cast before it. */
export interface PlannedFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Uint8Array;
  readonly plan: ImportPlan;
}

/** What a world of a chat is made of. */
export interface ChatParts {
  readonly path: string;
  readonly sha256: string;
  readonly title: string;
  readonly operator_name: string;
  readonly presets: Readonly<Record<string, Sampling>>;
  readonly persona: { readonly name: string; readonly about: string | null } | null;
  /** The picture of whoever plays. */
  readonly picture: { readonly path: string; readonly sha256: string; readonly bytes: Uint8Array } | null;
  /** Plans the files one after the other, the chat last; one that cannot be read is left out and said to be. */
  plan(cast: Cast): { readonly files: readonly PlannedFile[]; readonly failed: readonly UsedFile[] };
}

/** What became of a chat; the same for the same file, however often it comes. */
export interface CarriedChat {
  readonly world_id: string;
  readonly entries: number;
  readonly totals: ChatTotals;
  readonly lost: FileRow["lost"];
  /** Other files that are part of the world. */
  readonly used: readonly UsedFile[];
}

/** A card, a book of lore or a picture of a world, and what of it was lost; or why it could not be read. */
export interface UsedFile {
  readonly path: string;
  readonly sha256: string;
  readonly lost: FileRow["lost"];
  readonly code: string | null;
  readonly where: string | null;
}

/** Under which key a chat is carried once. */
function keyOfChat(ports: Pick<WorldPorts, "crypto">, path: string, sha256: string): string {
  return `profile:${ports.crypto.sha256(`${path}\n${sha256}`)}`;
}

/** What became of a chat before; null where it was never carried. */
export async function findCarried(ports: WorldPorts, path: string, sha256: string): Promise<CarriedChat | null> {
  const stored = await ports.store.transact((tx) => tx.world.once(keyOfChat(ports, path, sha256)));
  return stored === null ? null : (JSON.parse(stored.outcome) as CarriedChat);
}

/** Makes the world of a chat in one transaction, once. With `preview` nothing is written. */
export async function carryChat(ports: WorldPorts, parts: ChatParts, preview: boolean): Promise<CarriedChat> {
  const { path, sha256, title } = parts;
  const key = keyOfChat(ports, path, sha256);
  const world_id = `${toWorldId(title).slice(0, 50).replace(/-+$/, "")}-${key.slice(8, 16)}`;
  const settings = { title, operator_name: parts.operator_name, presets: parts.presets };
  const planned = planWorld(ports, { world_id, start: null, people: [], settings });
  const { files, failed } = parts.plan(castOfNew(planned));
  const carried = toCarried(world_id, parts, files, failed);
  if (preview) return carried;
  const sources: { readonly source: string; readonly picture: Awaited<ReturnType<typeof keepPicture>> }[] = [];
  for (const { bytes, plan } of files) {
    sources.push({ source: await ports.content.put(bytes), picture: await keepPicture(ports, plan) });
  }
  const face = parts.picture === null ? null : await keepPicture(ports, { picture: parts.picture.bytes });
  return makeOnce<CarriedChat>(ports, { key, body: { path, sha256 } }, async (tx) => {
    let world = await addWorld(ports, tx, planned);
    for (const [i, { plan }] of files.entries()) {
      if (i === files.length - 1 && parts.persona !== null) {
        await writePersona(ports, tx, world, parts.persona);
        world = await reopen(tx, world_id);
      }
      const before = world.state.next_wseq;
      await writePlan(ports, tx, world, plan, sources[i]!);
      world = await reopen(tx, world_id);
      if (plan.counts !== null) requireAll(plan, world.state.next_wseq - before, carried.totals);
    }
    if (face !== null) await setAvatarIn(ports, tx, world, world.cast.operator_id, face);
    return { world: world.number, value: carried };
  });
}

async function reopen(tx: WorldWriteTransaction, worldId: string): Promise<OpenWorld> {
  return openRow((await tx.world.hold(worldId))!);
}

/** No line of a chat is lost: each was written, is hidden, blank or the header. Else nothing of it is kept. */
function requireAll({ counts }: ImportPlan, written: number, { lines }: ChatTotals): void {
  const { entries, hidden, blank, header } = counts!;
  if (written === entries && lines === entries + hidden + blank + header) return;
  throw new VerbatimError("IMPORT_VERIFY_FAILED", {
    message: `${lines} lines are not ${written} written, ${hidden} hidden, ${blank} blank and ${header} of the header`,
  });
}

const LINE_FEED = 10;

/** Lines of a file, counted without reading them. */
function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) lines++;
  return bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? lines + 1 : lines;
}

function toCarried(
  world_id: string,
  parts: ChatParts,
  files: readonly PlannedFile[],
  failed: readonly UsedFile[],
): CarriedChat {
  const chat = files.at(-1)!;
  const { entries, hidden, blank, header } = chat.plan.counts!;
  const totals = { lines: countLines(chat.bytes), entries, hidden, blank, header };
  requireAll(chat.plan, entries, totals);
  const hiddenLines = hidden === 0 ? [] : [{ what: "hidden", count: hidden, where: chat.plan.not_imported[0]! }];
  const face = parts.picture;
  return {
    world_id,
    entries,
    totals,
    lost: [...hiddenLines, ...chat.plan.lost.map((one) => ({ ...one }))],
    used: [
      ...files.slice(0, -1).map(({ path, sha256, plan }) => ({ path, sha256, lost: toLost(plan.lost), ...NO_FAILURE })),
      ...(face === null ? [] : [{ path: face.path, sha256: face.sha256, lost: [], ...NO_FAILURE }]),
      ...failed,
    ],
  };
}

const NO_FAILURE = { code: null, where: null } as const;

/** What is said about a persona, with the names in it. */
export function toAbout(about: string | null, user: string): string | null {
  return about === null ? null : expandMacros(about, { user, char: null });
}
