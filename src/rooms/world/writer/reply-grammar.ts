import { VerbatimError } from "../../../core/errors/index.ts";
import type { Reply } from "./writer-settings.ts";

const OPEN = "<think>";
const CLOSE = "</think>";
const FENCE = "```";
const SPACE = /^[ \t\r\n]*/;

/**
 * The JSON text inside a raw answer, by the grammar that the owner declared before there was an answer. The same bytes always
 * give the same verdict, and what does not match whole is refused: nothing is looked for.
 */
export function readReply(reply: Exclude<Reply, "prose">, raw: string): string {
  switch (reply) {
    case "json":
      return raw;
    case "think-json":
      return afterThinking(raw);
    case "fenced-json":
      return insideFence(raw);
  }
}

/** The first closing tag ends the thinking, whatever else it holds. */
function afterThinking(raw: string): string {
  if (!raw.startsWith(OPEN)) return raw;
  const end = raw.indexOf(CLOSE);
  if (end < 0) throw new VerbatimError("JSON_SYNTAX", { message: "the thinking has no end" });
  return raw.slice(end + CLOSE.length);
}

function insideFence(raw: string): string {
  const from = SPACE.exec(raw)![0].length;
  let to = raw.length;
  while (to > from && " \t\r\n".includes(raw[to - 1]!)) to--;
  const body = raw.slice(from, to);
  const isFenced = body.startsWith(FENCE) && body.endsWith(FENCE) && body.length >= 2 * FENCE.length;
  if (!isFenced) throw new VerbatimError("JSON_SYNTAX", { message: "the answer is not one fence" });
  const inside = body.slice(FENCE.length, -FENCE.length);
  return inside.startsWith("json") ? inside.slice("json".length) : inside;
}
