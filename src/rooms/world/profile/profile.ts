import { compareCodePoints, decodeUtf8, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { Sampling } from "../writer/writer-settings.ts";
import { type CarriedChat, carryChat, findCarried, type UsedFile } from "./carry-chat.ts";
import { planChat } from "./chat-parts.ts";
import { classify, isKeptFolder, type ProfileFile, stemOf } from "./classify.ts";
import { recordProfile } from "./record.ts";
import { type FileRow, type ProfileReport, toReport, toRow } from "./report.ts";
import {
  NO_SETTINGS,
  type ProfileGroup,
  type ProfileSettings,
  readGroup,
  readPreset,
  readSettings,
} from "./settings-file.ts";
import type { ProfileSource } from "./source.ts";

const MAX_PRESETS = 64;

/** What a profile says besides its chats, and what of it was read. */
export interface ProfileContext {
  readonly source: ProfileSource;
  readonly files: ReadonlyMap<string, ProfileFile>;
  readonly settings: ProfileSettings;
  readonly groups: readonly { readonly path: string; readonly group: ProfileGroup }[];
  readonly presets: Readonly<Record<string, Sampling>>;
}

/**
 * Makes a world of every chat of a profile. Each is a transaction of its own and comes once, so whoever is interrupted
 * starts again and goes on; what cannot be read fails by itself, with its place.
 */
export async function importProfile(
  ports: WorldPorts,
  source: ProfileSource,
  kind: "folder" | "archive",
  preview: boolean,
): Promise<ProfileReport> {
  const files = source.files.map((file) => classify(file, source.root));
  const rows = new Map<string, FileRow>();
  const put = (file: ProfileFile, more: Partial<FileRow>) =>
    rows.set(file.path, toRow(file.path, file.bytes, file.kind, more));
  const context = await readContext(source, files, put, ports);
  const carried: CarriedChat[] = [];
  for (const file of files.filter((one) => one.kind === "chat" || one.kind === "group-chat")) {
    const done = await carryFile(ports, context, file, preview, put);
    if (done !== null) carried.push(done);
  }
  const used = new Map(
    carried.flatMap((chat) => chat.used.map((one) => [one.path, { ...one, world_id: chat.world_id }] as const)),
  );
  for (const file of files) {
    if (!rows.has(file.path)) put(file, await settleFile(ports, source, file, used.get(file.path), preview));
  }
  const ordered = [...rows.values()].sort((a, b) => compareCodePoints(a.path, b.path));
  const report = toReport(
    { kind, root: source.root },
    ordered,
    carried.map(({ totals }) => totals),
  );
  if (!preview) await recordProfile(ports, report);
  return report;
}

type Put = (file: ProfileFile, more: Partial<FileRow>) => void;

/** Settings, groups and presets, each with its row. */
async function readContext(
  source: ProfileSource,
  files: readonly ProfileFile[],
  put: Put,
  ports: WorldPorts,
): Promise<ProfileContext> {
  let settings = NO_SETTINGS;
  const groups: { path: string; group: ProfileGroup }[] = [];
  const presets: Record<string, Sampling> = {};
  for (const file of files) {
    if (file.kind !== "settings" && file.kind !== "group" && file.kind !== "preset") continue;
    const read = await tryRead(source, file);
    if ("code" in read) {
      put(file, { outcome: "FAILED", ...read });
      continue;
    }
    const sha256 = ports.crypto.sha256(read.bytes);
    if (file.kind === "settings") {
      settings = readSettings(read.value);
      put(file, { outcome: "CARRIED", sha256 });
    } else if (file.kind === "group") {
      groups.push({ path: file.path, group: readGroup(read.value) });
      put(file, { outcome: "CARRIED", sha256 });
    } else put(file, { sha256, ...takePreset(presets, file, read.value) });
  }
  return { source, files: new Map(files.map((file) => [file.name, file])), settings, groups, presets };
}

function takePreset(presets: Record<string, Sampling>, file: ProfileFile, value: JsonValue): Partial<FileRow> {
  const { sampling, refused } = readPreset(value);
  const lost = refused.length === 0 ? [] : [{ what: "sampling", count: refused.length, where: `/${refused[0]!}` }];
  if (sampling === null) return { outcome: "LEFT", lost, where: "it sets nothing that a writer takes" };
  if (Object.keys(presets).length >= MAX_PRESETS)
    return { outcome: "LEFT", lost, where: `a world has at most ${MAX_PRESETS} presets` };
  const stem = stemOf(file.path).slice(0, 76);
  const name = Object.hasOwn(presets, stem) ? `${stem} (2)` : stem;
  presets[name] = sampling;
  return { outcome: "CARRIED", lost };
}

type Failed = { readonly code: string; readonly where: string | null };
type Read = { readonly bytes: Uint8Array; readonly value: JsonValue } | Failed;

/** A file as JSON. Numbers and texts that nobody can keep are no reason to lose a profile. */
async function tryRead(source: ProfileSource, { path }: ProfileFile): Promise<Read> {
  try {
    const bytes = await source.read(path);
    const text = decodeUtf8(bytes);
    if (text === null) return { code: "IMPORT_FORMAT_UNKNOWN", where: "the file is not UTF-8 text" };
    return { bytes, value: parseJson(text.replace(/^\ufeff/, "")) };
  } catch (thrown) {
    return toFailed(thrown);
  }
}

function toFailed(thrown: unknown): Failed {
  // Only what is wrong with the file is told of the file; a full disk or a broken store ends everything.
  if (!isVerbatimError(thrown) || thrown.exit >= BROKEN) throw thrown;
  return { code: thrown.code, where: thrown.where ?? thrown.message };
}

/** Exit codes from here on say that something inside broke, or that somebody has to do something first. */
const BROKEN = 3;

async function carryFile(
  ports: WorldPorts,
  context: ProfileContext,
  file: ProfileFile,
  preview: boolean,
  put: Put,
): Promise<CarriedChat | null> {
  let sha256: string | null = null;
  try {
    const bytes = await context.source.read(file.path);
    sha256 = ports.crypto.sha256(bytes);
    const known = preview ? null : await findCarried(ports, file.path, sha256);
    const done = known ?? (await carryChat(ports, await planChat(ports, context, file, bytes, sha256), preview));
    const { world_id, entries, lost } = done;
    put(file, { outcome: "CARRIED", sha256, world_id, entries, lost: [...lost] });
    return done;
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "WORLD_EXISTS") {
      put(file, { outcome: "LEFT", sha256, where: "its world was deleted" });
      return null;
    }
    put(file, { outcome: "FAILED", sha256, ...toFailed(thrown) });
    return null;
  }
}

/** What becomes of a file that is no chat and says nothing to all worlds. */
async function settleFile(
  ports: WorldPorts,
  source: ProfileSource,
  file: ProfileFile,
  used: (UsedFile & { readonly world_id: string }) | undefined,
  preview: boolean,
): Promise<Partial<FileRow>> {
  if (file.kind === "secrets") return { where: "secrets are never opened" };
  if (file.kind === "link") return { where: "links are not followed" };
  if (file.kind === "other" && !isKeptFolder(file.name)) return { where: "worlds have no place for it" };
  try {
    const bytes = await source.read(file.path);
    const sha256 = ports.crypto.sha256(bytes);
    if (used?.sha256 === sha256 && used.code !== null)
      return { outcome: "FAILED", sha256, code: used.code, where: used.where };
    if (used?.sha256 === sha256) return { outcome: "CARRIED", sha256, world_id: used.world_id, lost: [...used.lost] };
    if (!preview) await ports.content.put(bytes);
    return { outcome: "KEPT", sha256 };
  } catch (thrown) {
    return { outcome: "FAILED", ...toFailed(thrown) };
  }
}
