import {
  decodeUtf8,
  Float,
  formatCanonical,
  isJsonObject,
  type JsonValue,
  parseJson,
} from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { LoginFile } from "../contracts/agent-profile.ts";

/** A login file is small; what is larger is something else. */
export const MOST_LOGIN_BYTES = 1024 * 1024;

/** What stands at a login file: when the agent began, in its own layer now, and in the real home folder now. */
export interface LoginStates {
  readonly before: Uint8Array | null;
  readonly inside: Uint8Array | null;
  readonly real: Uint8Array | null;
}

/** Why a login file that an agent changed is not copied out. */
type LoginRefusal = "new" | "gone" | "too_large" | "not_readable" | "other_keys" | "other_account" | "older";

export type LoginVerdict = { readonly take: true } | { readonly take: false; readonly why: "unchanged" | LoginRefusal };

/**
 * Whether the login file of an agent is copied out of its layer: an agent may refresh its own login and nothing else. A
 * first login is not kept, and neither is one of another account where the profile says how to tell.
 */
export function judgeLogin({ check, newer, same = [] }: LoginFile, states: LoginStates): LoginVerdict {
  const { before, inside, real } = states;
  const leave = (why: "unchanged" | LoginRefusal): LoginVerdict => ({ take: false, why });
  if (inside === null) return leave(before === null ? "unchanged" : "gone");
  if (before === null) return leave("new");
  if (isEqual(inside, before) || (real !== null && isEqual(inside, real))) return leave("unchanged");
  if (inside.length > MOST_LOGIN_BYTES) return leave("too_large");
  const shape = shapeOf(check, inside);
  if (shape === null) return leave("not_readable");
  if (shape !== shapeOf(check, before)) return leave("other_keys");
  if (same.some((pointer) => valueAt(check, inside, pointer) !== valueAt(check, before, pointer))) {
    return leave("other_account");
  }
  if (real === null) return leave("gone");
  if (isEqual(real, before)) return { take: true };
  // Somebody refreshed the real one meanwhile.
  if (newer === undefined) return leave("older");
  const [mine, theirs] = [numberAt(check, inside, newer), numberAt(check, real, newer)];
  return mine !== null && (theirs === null || mine > theirs) ? { take: true } : leave("older");
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The keys of a file and nothing of its values; null where it is not what the profile says. */
function shapeOf(check: LoginFile["check"], bytes: Uint8Array): string | null {
  if (check === "any") return "";
  if (check === "toml") return tomlKeys(decodeUtf8(bytes));
  const value = readJson(bytes);
  return value === undefined ? null : formatCanonical(keysOf(value));
}

function readJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

function keysOf(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return [];
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, keysOf(member)]));
}

/** Tables and keys by their lines. A text over several lines could hide one, so a file with such a text is refused. */
function tomlKeys(text: string | null): string | null {
  if (text === null || text.includes('"""') || text.includes("'''")) return null;
  const keys: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const bare = line.trim();
    if (bare === "" || bare.startsWith("#")) continue;
    const found = /^(?:(\[\[?[^\]]+\]\]?)|([A-Za-z0-9_."'-]+)\s*=)/.exec(bare);
    if (found === null) return null;
    keys.push(found[1] ?? found[2]!);
  }
  return keys.join("\n");
}

function at(check: LoginFile["check"], bytes: Uint8Array, pointer: string): JsonValue | undefined {
  let value = check === "json" ? readJson(bytes) : undefined;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function valueAt(check: LoginFile["check"], bytes: Uint8Array, pointer: string): string {
  const value = at(check, bytes, pointer);
  return value === undefined ? "" : formatCanonical(value);
}

function numberAt(check: LoginFile["check"], bytes: Uint8Array, pointer: string): number | null {
  const value = at(check, bytes, pointer);
  if (value instanceof Float) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  const time = typeof value === "string" ? /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value) : false;
  // Times of one form sort like their digits.
  return time ? Number((value as string).replaceAll(/\D/g, "").padEnd(17, "0").slice(0, 17)) : null;
}

/** Where a login file or a session lies for this user: the agent's own variable moves its folder. */
export function placeInHome(
  entry: { readonly path: string; readonly env_root?: string | undefined; readonly root?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): string {
  const given = entry.env_root === undefined ? undefined : env[entry.env_root];
  const root = entry.root ?? entry.path.split("/").slice(0, 2).join("/");
  if (given?.startsWith("/") === true && `${entry.path}/`.startsWith(`${root}/`)) {
    return `${given.replace(/\/+$/, "")}${entry.path.slice(root.length)}`;
  }
  return `${home}${entry.path.slice(1)}`;
}
