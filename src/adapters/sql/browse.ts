import type { LedgerQuery } from "../../core/ports.ts";
import { requirePage } from "./page.ts";

/** The condition of a query, with what its placeholders stand for. `table` is where the entry is, `index` its global number. */
export function toCondition(
  query: LedgerQuery,
  names: { readonly table: string; readonly index: string; placeholder(n: number): string },
): { readonly sql: string; readonly values: (string | number)[] } {
  requirePage(query.before ?? 0, query.limit);
  const values: (string | number)[] = [];
  const given = (value: string | number) => names.placeholder(values.push(value));
  const parts: string[] = [];
  const { before, streams, kinds, actor, from, to } = query;
  if (before !== undefined) parts.push(`${names.index} < ${given(before)}`);
  if (streams !== undefined) parts.push(`${names.table}stream in (${streams.map(given).join(", ")})`);
  if (kinds !== undefined) parts.push(`${names.table}kind in (${kinds.map(given).join(", ")})`);
  if (actor !== undefined) parts.push(`${names.table}actor = ${given(actor)}`);
  // Times of the ledger are texts of one length, so that their order is that of their letters.
  if (from !== undefined) parts.push(`${names.table}time >= ${given(from)}`);
  if (to !== undefined) parts.push(`${names.table}time < ${given(to)}`);
  const where = parts.length === 0 ? "" : `where ${parts.join(" and ")} `;
  return { sql: `${where}order by ${names.index} desc limit ${given(query.limit)}`, values };
}
