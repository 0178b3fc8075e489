import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { readMarks } from "../knowledge/marks.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { loadWorld } from "../projection/reading.ts";
import { readLine, readSwipes, splitChat } from "./chat.ts";
import { type ListedImport, listImports } from "./import-list.ts";

type Ports = Pick<WorldPorts, "store" | "content">;

/** One import by its number. */
export async function findImported(ports: Ports, worldId: string, number: number): Promise<ListedImport> {
  await ports.store.read((tx) => loadWorld(tx.world, worldId));
  const found = (await listImports(ports, worldId)).find((one) => one.number === number);
  if (found === undefined) throw new VerbatimError("IMPORT_NOT_FOUND", { where: String(number) });
  return found;
}

export interface ShownSwipes {
  readonly entry_id: string;
  /** As the file has them; none where the line was written once, or here. */
  readonly swipes: readonly string[];
  /** Which of them became the line; null where the file does not say. */
  readonly chosen: number | null;
}

/** The other texts of an imported line, verbatim from the original. */
export async function readEntrySwipes(ports: Ports, worldId: string, entry_id: string): Promise<ShownSwipes> {
  const swipes = await ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const [row] = await tx.world.entriesById(world.number, [entry_id]);
    if (row === undefined) throw new VerbatimError("ENTRY_NOT_FOUND", { where: entry_id });
    return (await readMarks(tx.world, world)).swipes.get(row.wseq) ?? null;
  });
  if (swipes === null) return { entry_id, swipes: [], chosen: null };
  const text = decodeUtf8(await ports.content.get(swipes.source_sha256));
  const line = text === null ? undefined : splitChat(text.replace(/^\ufeff/, ""))[swipes.line - 1];
  if (line === undefined) throw new VerbatimError("CONTENT_STORE_CORRUPT", { where: swipes.source_sha256 });
  const value = readLine(line, `line ${swipes.line}`);
  const { swipe_id } = value;
  return { entry_id, swipes: readSwipes(value) ?? [], chosen: typeof swipe_id === "number" ? swipe_id : null };
}
