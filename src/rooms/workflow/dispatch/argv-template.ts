import { parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";

/** Names a command template may use (Artifact Contracts K). */
const TEMPLATE_NAMES = [
  "PROMPT_PATH",
  "TARGET_PATH",
  "PLAN_PATH",
  "PATCH_PATH",
  "CONTEXT_PATH",
  "CONSTRAINTS_PATH",
  "FIX_BRIEF_PATH",
  "EXTERNALS_PATH",
  "GOAL",
  "REASON",
  "ROLE",
  "ACTION",
  "RUN_DIR",
  "REPO_ROOT",
  "ROUND",
] as const;

/** What the names in a template stand for. */
export type TemplateValues = Readonly<Partial<Record<(typeof TEMPLATE_NAMES)[number], string>>>;

/**
 * The arguments a template stands for. No shell ever sees them, and a value is never split again.
 *
 * @example
 * expandTemplate("agent --in '{REPO_ROOT}'", { REPO_ROOT: "/srv/my harbour" }); // => ["agent", "--in", "/srv/my harbour"]
 */
export function expandTemplate(template: string | readonly string[], values: TemplateValues): string[] {
  const words = typeof template === "string" ? splitTemplate(template) : [...template];
  const argv = words.map((word) => substitute(word, values));
  if (argv[0] === undefined || argv[0] === "") throw invalid("the template does not name a program");
  return argv;
}

/** Splits a command as written by a person: a JSON array, or words with quotes and backslashes. Nothing is expanded. */
function splitTemplate(template: string): string[] {
  const text = template.trimStart();
  return text.startsWith("[") ? parseArray(text) : splitWords(template);
}

function parseArray(text: string): string[] {
  try {
    const value = parseJson(text);
    if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")) {
      return value as string[];
    }
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw invalid("the template starts with [ but is not a JSON array");
  }
  throw invalid("the template must be a JSON array of at least one string");
}

/**
 * Splits at blanks with '...' (literal), "..." (\" and \\ escaped) and \x outside quotes.
 *
 * @example
 * splitWords("node 'my check.mjs'"); // => ["node", "my check.mjs"]
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (character === " " || character === "\t") {
      if (word !== null) words.push(word);
      word = null;
      at++;
    } else if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) throw invalid("a single quote is not closed");
      word = (word ?? "") + text.slice(at + 1, end);
      at = end + 1;
    } else if (character === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      word = (word ?? "") + quoted.text;
      at = quoted.end;
    } else if (character === "\\") {
      if (at + 1 >= text.length) throw invalid("a backslash at the end escapes nothing");
      const next = String.fromCodePoint(text.codePointAt(at + 1)!);
      word = (word ?? "") + next;
      at += 1 + next.length;
    } else {
      word = (word ?? "") + character;
      at++;
    }
  }
  if (word !== null) words.push(word);
  if (words.length === 0) throw invalid("the template is empty");
  return words;
}

function readDoubleQuoted(text: string, start: number): { readonly text: string; readonly end: number } {
  let result = "";
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return { text: result, end: at + 1 };
    if (character === "\\" && (text[at + 1] === '"' || text[at + 1] === "\\")) at++;
    result += text[at]!;
  }
  throw invalid("a double quote is not closed");
}

function substitute(word: string, values: TemplateValues): string {
  let result = "";
  for (let at = 0; at < word.length; ) {
    const character = word[at]!;
    if ((character === "{" || character === "}") && word[at + 1] === character) {
      result += character;
      at += 2;
    } else if (character === "{") {
      const end = word.indexOf("}", at);
      if (end === -1) throw invalid("a { has no matching }; write {{ for a brace");
      const name = word.slice(at + 1, end);
      if (!(TEMPLATE_NAMES as readonly string[]).includes(name)) {
        throw new VerbatimError("TEMPLATE_PLACEHOLDER_UNKNOWN", {
          message: `there is no placeholder {${name}}`,
          fix: `Use one of ${TEMPLATE_NAMES.join(", ")}; write {{ and }} for braces.`,
          details: { name },
        });
      }
      result += values[name as keyof TemplateValues] ?? "";
      at = end + 1;
    } else if (character === "}") throw invalid("a } has no matching {; write }} for a brace");
    else {
      result += character;
      at++;
    }
  }
  return result;
}

function invalid(message: string): VerbatimError {
  return new VerbatimError("TEMPLATE_INVALID", { message });
}

/** Arguments as a POSIX shell would read them back; for people, never executed. */
export function formatArgv(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
