import { VerbatimError } from "../../../core/errors/index.ts";
import { appendRecord } from "../history/commit.ts";
import { readMarks } from "../knowledge/marks.ts";
import { readPins } from "../knowledge/told.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { gated, loadWorld, viewerView } from "../projection/reading.ts";
import { controlWorld } from "./control.ts";

const MAX_PINS = 64;

export interface ShownPin {
  readonly pin_id: string;
  readonly entry_id: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

/** The pins whose lines a viewer may see, in the order of those lines. */
export async function listPins(ports: WorldPorts, worldId: string, viewer: string | null): Promise<ShownPin[]> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    const { pins } = await readMarks(tx.world, world);
    const shown = await readPins(ports, tx.world, world, view, pins);
    return shown
      .sort((a, b) => a.wseq - b.wseq || a.range[0] - b.range[0])
      .map(({ pin_id, entry_id, range: [start, end], text }) => ({ pin_id, entry_id, start, end, quote: text }));
  });
}

/** Keeps an exact part of a line in every frame that may have it. */
export async function pin(
  ports: WorldPorts,
  worldId: string,
  wanted: { readonly entry_id: string; readonly quote: string; readonly viewer: string | null },
  key: string | null,
): Promise<ShownPin> {
  return controlWorld(ports, worldId, { key, body: { pin: { ...wanted } } }, async (tx, world) => {
    const view = viewerView(world, wanted.viewer ?? world.cast.operator_id);
    const { entry_id, quote } = wanted;
    const [entry] = gated(world, view, await tx.world.entriesById(world.number, [entry_id]));
    if (entry === undefined) throw new VerbatimError("ENTRY_NOT_FOUND", { where: entry_id });
    const start = quote === "" ? -1 : entry.text.indexOf(quote);
    if (start < 0) {
      throw new VerbatimError("EXCERPT_NOT_VERBATIM", { message: "the line does not say this", where: "/quote" });
    }
    const { pins } = await readMarks(tx.world, world);
    if (pins.length >= MAX_PINS) {
      throw new VerbatimError("INPUT_INVALID", {
        message: `a world has at most ${MAX_PINS} pins`,
        where: "/quote",
        fix: "Take one away first.",
      });
    }
    const pin_id = `p_${ports.ids.uuid()}`;
    const end = start + quote.length;
    const body = { pin_id, entry_id, start, end, quote_sha256: ports.crypto.sha256(quote) };
    await appendRecord(ports, tx, world, "WORLD_PINNED", body);
    return { pin_id, entry_id, start, end, quote };
  });
}

/** Takes a pin away. One on a line that the viewer may not see is not there. */
export async function unpin(
  ports: WorldPorts,
  worldId: string,
  wanted: { readonly pin_id: string; readonly viewer: string | null },
  key: string | null,
): Promise<{ readonly pin_id: string }> {
  return controlWorld(ports, worldId, { key, body: { unpin: { ...wanted } } }, async (tx, world) => {
    const view = viewerView(world, wanted.viewer ?? world.cast.operator_id);
    const { pin_id } = wanted;
    const { pins } = await readMarks(tx.world, world);
    const named = pins.filter((one) => one.pin_id === pin_id);
    const [shown] = await readPins(ports, tx.world, world, view, named);
    if (shown === undefined) throw new VerbatimError("PIN_NOT_FOUND", { where: pin_id });
    await appendRecord(ports, tx, world, "WORLD_UNPINNED", { pin_id });
    return { pin_id };
  });
}
