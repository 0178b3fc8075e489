import type { App } from "../../app/app-type.ts";
import type { Answers } from "./answer.ts";
import { type Cursor, formatCursor, parseCursor, refused } from "./cursor.ts";
import { LIST_PARTS, type ListedResource } from "./resource-list.ts";
import type { ListedTool } from "./tool-schema.ts";

const MOST_ITEMS = 50;

/** One page of all resources: as many as fit, and where to go on. */
export async function pageResources(app: App, cursor: string | undefined, answers: Answers) {
  const names = Object.keys(LIST_PARTS);
  const place = cursor === undefined ? null : parseCursor(cursor, names);
  const resources: ListedResource["resource"][] = [];
  let last: Cursor | null = null;
  for (const part of names.slice(place === null ? 0 : names.indexOf(place.part))) {
    const after = part === place?.part ? place.after : null;
    for await (const { resource, after: here } of LIST_PARTS[part]!(app, after)) {
      const isFull =
        resources.length === MOST_ITEMS ||
        !answers.fits({ resources: [...resources, resource], nextCursor: "x".repeat(600) });
      if (isFull && last !== null) return { resources, nextCursor: formatCursor(last) };
      resources.push(resource);
      last = { part, after: here };
    }
  }
  return answers.carry({ resources });
}

/** One page of tools: all of them, unless the limit is lower than their descriptions are long. */
export function pageTools(tools: readonly ListedTool[], cursor: string | undefined, answers: Answers) {
  const from = cursor === undefined ? 0 : toNumber(parseCursor(cursor, ["tools"]).after, tools.length);
  const page: ListedTool[] = [];
  for (const tool of tools.slice(from)) {
    if (page.length > 0 && !answers.fits({ tools: [...page, tool] })) {
      return { tools: page, nextCursor: formatCursor({ part: "tools", after: String(from + page.length) }) };
    }
    page.push(tool);
  }
  return answers.carry({ tools: page });
}

function toNumber(text: string, below: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number >= below) throw refused();
  return number;
}
