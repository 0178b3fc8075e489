import { type JsonValue, utf8Length } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { Capsules } from "../knowledge/capsules.ts";
import { type Frame, loadOf, requireFits } from "../knowledge/frames.ts";
import { viewKey } from "../knowledge/gate.ts";
import { triggerAt } from "../knowledge/rehydration.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { filterCalendar } from "../people/pocket.ts";
import type { ChatMessage } from "../ports.ts";
import { loadWorld, viewerView } from "../projection/reading.ts";
import { toolLimitsOf, usableOf } from "../settings.ts";
import { moveClock } from "../time/clock.ts";
import { formatInstant } from "../time/instant.ts";
import { toolsBefore } from "../writer/beat-loop.ts";
import { describeParts, toMessages, toUserMessage } from "../writer/frame.ts";
import { writerOf } from "../writer/writer-settings.ts";
import { prepareBeat } from "./beat-prepare.ts";
import { checkInvocation, type Sending } from "./invocation.ts";
import { rulesOf } from "./writing.ts";

interface DueItem {
  readonly item_id: string;
  readonly title: string;
  readonly time: string | null;
}

export interface TimePreview {
  readonly clock_before: string;
  readonly clock_after: string;
  readonly timezone: string;
  readonly paused: boolean;
  readonly gap_ms: number;
  readonly due: readonly DueItem[];
}

/** What a declaration of time would do; refusals are those of the beat. */
export async function previewTime(
  ports: WorldPorts,
  worldId: string,
  asked: { readonly at: string | null; readonly timezone: string | null; readonly pause: boolean | null },
  viewer: string | null,
): Promise<TimePreview> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const view = viewerView(world, viewer ?? world.cast.operator_id);
    const { clock_ms, zone, paused } = world.state;
    const items = await tx.world.calendar(world.number);
    const declared = { declared_world_time: asked.at, timezone: asked.timezone, pause_time: asked.pause };
    const policy = { kind: "explicit" } as const;
    const move = moveClock(
      ports.zones,
      { clock_ms, zone, paused, policy },
      { kind: "BEAT", ...declared, elapsed_ms: 0 },
      items,
    );
    const due = new Set(move.due);
    return {
      clock_before: formatInstant(ports.zones, clock_ms, zone),
      clock_after: move.world_time,
      timezone: move.zone,
      paused: move.paused,
      gap_ms: move.clock_ms - clock_ms,
      due: filterCalendar(world, view, items)
        .filter(({ row }) => due.has(row.item_id))
        .map(({ row, item }) => ({ item_id: row.item_id, title: item.title, time: item.time })),
    };
  });
}

export interface TextCount {
  readonly bytes: number;
  readonly tokens: number;
  readonly tokenizer: string;
  readonly max_bytes: number;
  readonly fits: boolean;
}

const MAX_TEXT_BYTES = 65_536;

/** Whether a text can be said. It depends on the text, the rules and the public frame only. */
export async function countText(ports: WorldPorts, worldId: string, text: string): Promise<TextCount> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const bytes = utf8Length(text);
    const count = { bytes, tokens: ports.tokenizer.count(text), tokenizer: ports.tokenizer.name };
    const said = { name: world.cast.operator_name, text };
    const base = {
      request_id: "count",
      world_time: formatInstant(ports.zones, world.state.clock_ms, world.state.zone),
      said: { whole: said, heardBy: () => said },
      rules: rulesOf(world, ports).text,
      capsules: new Capsules(),
      turns: null,
      calendar: [],
    };
    try {
      requireFits(ports, world, base);
    } catch (thrown) {
      if (!(thrown instanceof VerbatimError) || thrown.code !== "INPUT_EXCEEDS_CONTEXT") throw thrown;
      const { max_bytes } = thrown.details as { max_bytes: number };
      return { ...count, max_bytes: Math.min(max_bytes, MAX_TEXT_BYTES), fits: false };
    }
    return { ...count, max_bytes: MAX_TEXT_BYTES, fits: bytes <= MAX_TEXT_BYTES };
  });
}

export interface PassPreview {
  readonly actor: string;
  readonly view: string;
  readonly writer: { readonly kind: string; readonly model: string | null };
  readonly load: number;
  readonly usable: number;
  readonly trigger: number;
  readonly rehydrates: boolean;
  readonly parts: ReturnType<typeof describeParts>;
  readonly messages?: readonly ChatMessage[];
}

/** What the writers of an invocation would be sent: nothing is claimed, stored or asked. */
export async function previewBeat(
  ports: WorldPorts,
  worldId: string,
  value: JsonValue,
  sending: Sending,
  options: { readonly messages: boolean; readonly elapsed_ms: number },
): Promise<{ readonly passes: readonly PassPreview[]; readonly clock_after: string; readonly due: readonly string[] }> {
  const checked = await checkInvocation(ports, worldId, value, sending);
  const { world, move, frames } = await prepareBeat(ports, new Capsules(), checked, options.elapsed_ms);
  const { settings } = world.state;
  const rules = rulesOf(world, ports).text;
  const usable = usableOf(settings);
  const toPass = (frame: Frame): PassPreview => {
    const { plan, parts } = frame;
    const { text, pieces } = toUserMessage(world.cast, parts, [], toolsBefore(toolLimitsOf(settings), plan.reply));
    const { kind, model } = writerOf(settings, plan.actor);
    return {
      actor: plan.actor,
      view: viewKey(frame.view),
      writer: { kind, model },
      load: loadOf(ports, world, rules, parts),
      usable,
      trigger: triggerAt(usable, settings.context.threshold_percent),
      rehydrates: frame.rehydration !== null,
      parts: describeParts(ports, rules, parts, pieces, []),
      ...(options.messages ? { messages: toMessages(rules, text) } : {}),
    };
  };
  return { passes: frames.map(toPass), clock_after: move.world_time, due: move.due };
}
