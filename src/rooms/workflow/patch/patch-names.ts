import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { isGitName } from "../../../core/paths/index.ts";
import { isDeviceName } from "../run/find/run-id.ts";
import { fromByteText } from "./patch-lines.ts";
import { refuseParse, refusePath } from "./rejection.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};

/** Reads a C-style quoted token that starts at `start`; null when it is malformed. */
export function readQuoted(text: string, start: number): { readonly name: string; readonly end: number } | null {
  let name = "";
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return { name, end: at + 1 };
    if (character !== "\\") {
      name += character;
      continue;
    }
    const next = text[at + 1] ?? "";
    const octal = /^[0-3][0-7]{2}/.exec(text.slice(at + 1, at + 4));
    if (octal !== null) {
      name += String.fromCharCode(Number.parseInt(octal[0], 8));
      at += 3;
    } else if (Object.hasOwn(ESCAPES, next)) {
      name += ESCAPES[next]!;
      at++;
    } else return null;
  }
  return null;
}

/** The name of a `---` or `+++` line without its prefix; null for /dev/null. */
export function readBodyName(text: string, prefix: "a/" | "b/", line: number, platform: Platform): string | null {
  if (text === "/dev/null") return null;
  // git ends a name that holds a space with a TAB, in quotes or not.
  const name = text.startsWith('"') ? readWholeQuoted(text.replace(/\t$/, ""), line) : readUnquoted(text, line);
  return toPath(dropPrefix(name, prefix, line), line, platform);
}

/** The name of a rename or copy line, which has no prefix and reaches to the end of the line. */
export function readPlainName(text: string, line: number, platform: Platform): string {
  if (text.startsWith('"')) return toPath(readWholeQuoted(text, line), line, platform);
  if (text.includes('"')) refuseParse("bad_quote", line);
  return toPath(text, line, platform);
}

function readWholeQuoted(text: string, line: number): string {
  const quoted = readQuoted(text, 0);
  if (quoted === null || quoted.end !== text.length) return refuseParse("bad_quote", line);
  return quoted.name;
}

function readUnquoted(text: string, line: number): string {
  const tab = text.indexOf("\t");
  if (tab !== -1 && tab !== text.length - 1) refuseParse("timestamp", line);
  const name = tab === -1 ? text : text.slice(0, tab);
  if (name.includes('"')) refuseParse("bad_quote", line);
  return name;
}

/** Removes exactly one prefix. */
export function dropPrefix(name: string, prefix: "a/" | "b/", line: number): string {
  if (!name.startsWith(prefix)) refuseParse("prefix", line);
  return name.slice(2);
}

/** Whether names are held against the rules of Windows as well. */
export type Platform = "posix" | "windows";

/** Decodes a name of bytes and holds it against the path rules, in their order. */
export function toPath(bytes: string, line: number, platform: Platform): string {
  const path = decodeUtf8(fromByteText(bytes));
  if (path === null) return refusePath("not_utf8", line);
  if (/[\x00-\x1f\x7f]/.test(path)) refusePath("control_char", line, path);
  if (path.startsWith("/")) refusePath("absolute", line, path);
  if (/^[A-Za-z]:/.test(path)) refusePath("drive_letter", line, path);
  if (path.includes("\\")) refusePath("backslash", line, path);
  for (const component of path.split("/")) {
    if (component === "") refusePath("empty_component", line, path);
    if (component === "." || component === "..") refusePath("dot_component", line, path);
    if (isGitName(component)) refusePath("dot_git", line, path);
    if (platform === "windows" && isDeviceName(component)) refusePath("reserved_name", line, path);
  }
  return path;
}
