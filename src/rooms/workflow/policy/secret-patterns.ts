/** A form of text that is a credential. Every repetition is bounded: a line of the change may be of any length. */
interface SecretPattern {
  readonly name: string;
  readonly pattern: RegExp;
}

/** Not in the middle of a word: `task-…` is no key. */
const START = "(?<![A-Za-z0-9])";

const PATTERNS: readonly SecretPattern[] = [
  { name: "anthropic-key", pattern: at("sk-ant-[A-Za-z0-9_-]{20,200}") },
  // A name in kebab case may begin the same way; a key has digits and capitals.
  {
    name: "openai-key",
    pattern: at("sk-(?!ant-)(?=[A-Za-z0-9_-]{0,200}[0-9])(?=[A-Za-z0-9_-]{0,200}[A-Z])[A-Za-z0-9_-]{20,200}"),
  },
  { name: "google-key", pattern: at("AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])") },
  { name: "github-token", pattern: at("gh[pousr]_[A-Za-z0-9]{36,255}") },
  { name: "gitlab-token", pattern: at("glpat-[A-Za-z0-9_-]{20,64}") },
  { name: "slack-token", pattern: at("xox[abpr]-(?=[A-Za-z0-9-]{0,200}[0-9])[A-Za-z0-9-]{10,200}") },
  { name: "aws-key", pattern: at("AKIA[0-9A-Z]{16}(?![0-9A-Za-z])") },
  { name: "npm-token", pattern: at("npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])") },
  {
    name: "jwt",
    pattern: at("eyJ[A-Za-z0-9_-]{10,2000}\\.eyJ[A-Za-z0-9_-]{10,4000}\\.[A-Za-z0-9_-]{10,2000}"),
  },
  {
    name: "authorization",
    pattern: at(
      "authorization[\"']?[ \\t]{0,8}[:=][ \\t]{0,8}[\"'`]?(?:bearer|basic|token)[ \\t]{1,8}" +
        "(?=[A-Za-z0-9._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{16,2000}",
      "i",
    ),
  },
  { name: "private-key", pattern: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/ },
];

/** The kinds of credentials that are found in text. */
export const SECRET_KINDS: readonly string[] = PATTERNS.map(({ name }) => name);

function at(source: string, flags = ""): RegExp {
  return new RegExp(START + source, flags);
}

/** Half of it on each side of what was found, so that a person sees where it stands. */
const SHOWN = 80;

/** The first credential of a line, and the line without it. */
export interface SecretFound {
  readonly name: string;
  /** The line, every credential in it replaced, cut to what a person can read. */
  readonly shown: string;
}

/** The credential in a line, or null. Cost: linear in the line. */
export function findSecret(line: string): SecretFound | null {
  const first = PATTERNS.find(({ pattern }) => pattern.test(line));
  return first === undefined ? null : { name: first.name, shown: redact(line) };
}

function redact(line: string): string {
  let text = line;
  for (const { name, pattern } of PATTERNS) {
    text = text.replace(new RegExp(pattern.source, `${pattern.flags}g`), `[redacted:${name}]`);
  }
  const at = text.indexOf("[redacted:");
  const from = Math.max(0, at - SHOWN / 2);
  return text
    .slice(from, from + 2 * SHOWN)
    .replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, " ")
    .trim();
}
