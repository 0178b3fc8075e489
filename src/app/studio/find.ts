import { z } from "zod";
import type { StudioPorts } from "./ports.ts";

export const found = z.strictObject({
  items: z.array(
    z.strictObject({
      kind: z.enum(["run", "world", "entry"]),
      id: z.string(),
      title: z.string(),
      route: z.string().describe("Where it is in the Studio."),
    }),
  ),
});

type Item = z.infer<typeof found>["items"][number];

const INDEX = /^(?:0|[1-9][0-9]{0,14})$/;
const HASH = /^[0-9a-f]{64}$/;

/** Objects by name, id or hash; an id that is whole comes first. Reading only: nobody's words are written down. */
export async function findObjects(ports: StudioPorts, query: string, limit: number): Promise<{ items: Item[] }> {
  const q = query.trim().toLowerCase();
  if (q === "") return { items: [] };
  const runs = (await ports.runs({ limit: Number.MAX_SAFE_INTEGER })).runs.map(
    ({ run_id, goal }): Item => ({ kind: "run", id: run_id, title: goal, route: toRoute("runs", run_id) }),
  );
  const worlds = (await ports.worlds()).map(
    ({ world_id, title }): Item => ({ kind: "world", id: world_id, title, route: toRoute("worlds", world_id) }),
  );
  const named = [...runs, ...worlds].filter(
    ({ id, title }) => id.toLowerCase().startsWith(q) || id.endsWith(q) || title.toLowerCase().includes(q),
  );
  const items = [...(await findEntry(ports, q)), ...named];
  const exact = items.filter(({ id }) => id.toLowerCase() === q);
  return { items: [...exact, ...items.filter((item) => !exact.includes(item))].slice(0, limit) };
}

async function findEntry(ports: StudioPorts, q: string): Promise<Item[]> {
  if (HASH.test(q)) {
    const index = await ports.entryOf(q);
    return index === null ? [] : [{ kind: "entry", id: q, title: `${index}`, route: toRoute("ledger/hash", q) }];
  }
  if (!INDEX.test(q) || Number(q) >= (await ports.ledgerSize())) return [];
  return [{ kind: "entry", id: q, title: q, route: toRoute("ledger", q) }];
}

function toRoute(room: string, id: string): string {
  return `/${room}/${encodeURIComponent(id)}`;
}
