/** One part of a form: fixed text, or so many of some characters. */
type Part =
  | { readonly text: string; readonly fold?: boolean }
  | { readonly of: RegExp; readonly least: number; readonly most: number };

/**
 * The form of a credential. Its parts follow each other, each takes as much as it can, and nothing is taken back, so
 * that it can be followed byte by byte.
 */
export interface SecretForm {
  readonly name: string;
  readonly parts: readonly Part[];
  /** Whether it may begin in the middle of a word. */
  readonly anywhere?: boolean;
  /** What a found text must have besides. */
  readonly holds?: (found: string) => boolean;
}

/** Where a form ends; `more`: that is not known before more has come; null: it does not begin here. */
export type Match = { readonly end: number } | "more" | null;

const WORD = /[A-Za-z0-9_-]/;
const key = (name: string, text: string, of: RegExp, least: number, most: number): SecretForm => ({
  name,
  parts: [{ text }, { of, least, most }],
});

/** Forms of credentials, whoever they belong to. */
export const SECRET_FORMS: readonly SecretForm[] = [
  key("anthropic-key", "sk-ant-", WORD, 20, 200),
  {
    ...key("openai-key", "sk-", WORD, 20, 200),
    // A name in kebab case may begin the same way; a key has digits and capitals.
    holds: (found) => !found.startsWith("sk-ant-") && /[0-9]/.test(found) && /[A-Z]/.test(found),
  },
  key("google-key", "AIza", WORD, 35, 35),
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((text) => key("github-token", text, /[A-Za-z0-9]/, 36, 255)),
  key("gitlab-token", "glpat-", WORD, 20, 64),
  ...["xoxa-", "xoxb-", "xoxp-", "xoxr-"].map(
    (text): SecretForm => ({
      ...key("slack-token", text, /[A-Za-z0-9-]/, 10, 200),
      holds: (found) => /[0-9]/.test(found),
    }),
  ),
  key("aws-key", "AKIA", /[0-9A-Z]/, 16, 16),
  key("npm-token", "npm_", /[A-Za-z0-9]/, 36, 36),
  {
    name: "jwt",
    parts: [
      { text: "eyJ" },
      { of: WORD, least: 10, most: 2000 },
      { text: ".eyJ" },
      { of: WORD, least: 10, most: 4000 },
      { text: "." },
      { of: WORD, least: 10, most: 2000 },
    ],
  },
  {
    name: "authorization",
    parts: [
      { text: "authorization:", fold: true },
      { of: /[ \t]/, least: 0, most: 8 },
      { of: /[^\r\n]/, least: 8, most: 2000 },
    ],
  },
  {
    name: "private-key",
    anywhere: true,
    parts: [
      { text: "-----BEGIN " },
      { of: /[A-Z0-9 ]/, least: 1, most: 100 },
      { text: "-----" },
      // Its lines, up to the end mark or to what no key has; inside JSON their ends are written with a backslash.
      { of: /[A-Za-z0-9+/=\\\r\n\t:, -]/, least: 0, most: 16_384 },
    ],
    holds: (found) => /^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/.test(found),
  },
];

/** What a configuration wants taken out: a text, or the beginning of one with `*` for the rest of it. */
export function toSecretForms(patterns: readonly string[]): SecretForm[] {
  return patterns.map((pattern) => {
    if (!pattern.endsWith("*")) return { name: "configured", anywhere: true, parts: [{ text: pattern }] };
    return key("configured", pattern.slice(0, -1), WORD, 8, 200);
  });
}

/** Follows a form from a place in a text; `closed`: nothing will come after it. Cost: linear in what is found. */
export function matchForm(form: SecretForm, text: string, from: number, closed: boolean): Match {
  let at = from;
  for (const part of form.parts) {
    if ("text" in part) {
      const here = text.slice(at, at + part.text.length);
      const same = part.fold === true ? here.toLowerCase() : here;
      if (!part.text.startsWith(same)) return null;
      if (same.length < part.text.length) return closed ? null : "more";
      at += part.text.length;
      continue;
    }
    const first = at;
    while (at < text.length && at - first < part.most && part.of.test(text[at]!)) at++;
    if (at === text.length && at - first < part.most && !closed) return "more";
    if (at - first < part.least) return null;
  }
  return form.holds === undefined || form.holds(text.slice(from, at)) ? { end: at } : null;
}
