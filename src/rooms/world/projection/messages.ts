import type { MessageBody } from "../contracts/records.ts";
import { toThose } from "../contracts/visibility.ts";
import { keyOf } from "../history/state.ts";
import { invalidCursor, makeNext, readNext, toMessageId } from "../ids.ts";
import { isAllowed } from "../knowledge/gate.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { nameOf } from "../people/cast.ts";
import { byTime } from "../people/pocket.ts";
import { loadWorld, viewerView } from "./reading.ts";

interface ShownMessage {
  readonly message_id: string;
  readonly from: string;
  readonly text: string;
  readonly time: string;
}

/** Messages that a viewer may see, newest first. A pocket that is not available has none. */
export async function readMessages(
  ports: Pick<WorldPorts, "store" | "crypto">,
  worldId: string,
  query: { readonly viewer: string | null; readonly limit: number; readonly after: string | null },
): Promise<{ readonly items: readonly ShownMessage[]; readonly next: string | null }> {
  return ports.store.read(async (tx) => {
    const world = await loadWorld(tx.world, worldId);
    const { cast, state } = world;
    const viewer = query.viewer ?? cast.operator_id;
    const view = viewerView(world, viewer);
    const key = keyOf(state);
    const rows = state.settings.pocket.available ? await tx.world.messages(world.number) : [];
    const seen = rows
      .sort((a, b) => byTime(b, a))
      .map((row) => ({ row, message: JSON.parse(row.body) as MessageBody }))
      .filter(({ message }) => isAllowed(cast, view, { visibility: toThose(message.visible_to) }))
      .map(({ row, message: { from, text, time } }) => {
        return { message_id: toMessageId(ports.crypto, key, row.number), from: nameOf(cast, from), text, time };
      });
    const scope = ["messages", viewer];
    const last = query.after === null ? null : readNext(ports.crypto, key, scope, query.after);
    const at = last === null ? -1 : seen.findIndex(({ message_id }) => message_id === last);
    if (query.after !== null && at < 0) throw invalidCursor("/after");
    const items = seen.slice(at + 1, at + 1 + query.limit);
    const end = items.at(-1);
    const hasMore = at + 1 + items.length < seen.length;
    return { items, next: hasMore && end !== undefined ? makeNext(ports.crypto, key, scope, end.message_id) : null };
  });
}
