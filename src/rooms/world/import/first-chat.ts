import { isJsonObject, type JsonObject, parseJson, sortedUnique } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { toThose } from "../contracts/visibility.ts";
import type { Cast } from "../people/cast.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { type ImportedLine, type ImportPlan, isBlank, NOTHING_BESIDES } from "./lines.ts";
import { toPersonId } from "./person-id.ts";
import { unknownFormat } from "./refusals.ts";

/** Reads a chat by the first rules. Its own times are real time and stay in the original. */
export function readFirstChat(cast: Cast, text: string): ImportPlan {
  const people = new Map(cast.people);
  const known = new Map([...cast.people].map(([id, name]) => [name, id]));
  const added: { person_id: string; display_name: string }[] = [];
  const skipped: string[] = [];
  const spoken: { readonly speaker: string; readonly isUser: boolean; readonly text: string; readonly from: string }[] =
    [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = readLine(line, i);
    const from = `line ${i + 1}`;
    if (typeof value["mes"] !== "string") {
      if (i === 0) continue;
      throw unknownFormat(`${from} has no text`);
    }
    if (value["is_system"] === true) skipped.push(from);
    else if (!isBlank(value["mes"])) {
      const isUser = value["is_user"] === true;
      const speaker = isUser ? cast.operator_id : findPerson(String(value["name"] ?? "Somebody"));
      spoken.push({ speaker, isUser, text: value["mes"], from });
    }
  }
  const visibility = toThose(sortedUnique([cast.operator_id, ...spoken.map(({ speaker }) => speaker)]));
  const lines = spoken.map(
    ({ speaker, isUser, text: said, from }): ImportedLine => ({
      author: { author_id: speaker, author_class: isUser ? "OPERATOR" : "PERSON" },
      channel: isUser ? "USER" : "PEOPLE",
      text: said,
      visibility,
      from,
    }),
  );
  const title = added[0]?.display_name ?? null;
  return {
    ...NOTHING_BESIDES,
    version: "CHAT",
    title,
    people: added,
    present_after: cast.present,
    lines,
    not_imported: skipped,
  };

  function findPerson(name: string): string {
    const id = known.get(name);
    if (id !== undefined) return id;
    const display = [...(isBlank(name) ? "Somebody" : name)].slice(0, 80).join("");
    const made = toPersonId({ operator_id: cast.operator_id, people }, name);
    people.set(made, display);
    known.set(name, made);
    added.push({ person_id: made, display_name: display });
    return made;
  }
}

function readLine(line: string, index: number): JsonObject {
  try {
    const value = parseJson(line, { maxDepth: MAX_LEVELS });
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
  }
  throw unknownFormat(`line ${index + 1} is not a JSON object`);
}
