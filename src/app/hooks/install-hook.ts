import { lstatSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { decodeUtf8, formatCanonical, isJsonObject, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { type ClientSettings, type HookBlock, toClientSettings } from "./client-settings.ts";
import { HOOK_EVENTS, type HookClient } from "./hook-call.ts";
import type { WriteFile } from "./ports.ts";

interface InstallRequest {
  readonly client: HookClient;
  readonly root: string;
  /** The settings of the user instead of those of the repository. */
  readonly user: boolean;
  readonly write: boolean;
}

interface Installed {
  readonly file: string;
  /** The block on its own, for people who would rather paste it. */
  readonly block: Record<string, unknown>;
  readonly state: "created" | "merged" | "unchanged" | "proposed";
  /** The whole file as it is, or would be. */
  readonly text: string;
  readonly notes: string[];
}

type Settings = Record<string, unknown>;

/** Shows, and with `write` writes, the hooks of a client. What is in the file stays there, in its order. */
export function installHook(write: WriteFile, request: InstallRequest): Installed {
  const settings = toClientSettings(request.client);
  const file = join(request.user ? homedir() : request.root, settings.file);
  const old = readSettings(file);
  const merged = merge(old?.value ?? { ...settings.head }, settings, file);
  const text = merged.added === 0 && old !== null ? old.text : formatSettings(merged.value, old?.text ?? "");
  const isChanged = old === null || text !== old.text;
  if (request.write && isChanged) {
    write(file, new TextEncoder().encode(text), old === null ? 0o644 : old.mode);
  }
  return {
    file,
    block: { ...settings.head, hooks: settings.hooks },
    state: !isChanged ? "unchanged" : !request.write ? "proposed" : old === null ? "created" : "merged",
    text,
    notes: [
      settings.failure,
      "the command verbatim must be on the PATH of the client; npm install --global verbatim-agent puts it there",
    ],
  };
}

function readSettings(file: string): { readonly value: Settings; readonly text: string; readonly mode: number } | null {
  const facts = lstatSync(file, { throwIfNoEntry: false });
  if (facts === undefined) return null;
  if (!facts.isFile()) throw refuse(file, "it is not a regular file");
  const bytes = readFileSync(file);
  const text = decodeUtf8(bytes);
  if (text === null) throw refuse(file, "it is not UTF-8");
  if (text.trim() === "") return { value: {}, text, mode: facts.mode & 0o777 };
  const exact = parseStrictly(text, file);
  const value = JSON.parse(text) as unknown;
  // JSON.parse keeps the order of members but not every number; what would change must not be written back.
  if (!isJsonObject(exact) || formatCanonical(exact) !== formatCanonical(parseJson(JSON.stringify(value)))) {
    throw refuse(file, "it is not a JSON object that can be written back unchanged");
  }
  return { value: value as Settings, text, mode: facts.mode & 0o777 };
}

function parseStrictly(text: string, file: string) {
  try {
    return parseJson(text, { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw refuse(file, `it is not strict JSON: ${thrown.message}`, thrown);
  }
}

function merge(
  value: Settings,
  settings: ClientSettings,
  file: string,
): { readonly value: Settings; readonly added: number } {
  const old = value["hooks"] ?? {};
  if (!isPlain(old)) throw refuse(file, '"hooks" is not an object');
  const hooks: Record<string, unknown> = { ...old };
  let added = 0;
  for (const [moment, entries] of Object.entries(settings.hooks as HookBlock)) {
    const known = hooks[moment] ?? [];
    if (!Array.isArray(known)) throw refuse(file, `"hooks" does not have a list at ${JSON.stringify(moment)}`);
    // Also an entry that its owner adjusted counts: the command names itself.
    const event = HOOK_EVENTS.find((one) => JSON.stringify(entries).includes(`verbatim hook ${one} `))!;
    if (JSON.stringify(known).includes(`verbatim hook ${event} `)) continue;
    hooks[moment] = [...(known as unknown[]), ...entries];
    added += entries.length;
  }
  return { value: { ...settings.head, ...value, hooks }, added };
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function formatSettings(value: Settings, old: string): string {
  const indent = /\n([ \t]+)\S/.exec(old)?.[1] ?? "  ";
  return `${JSON.stringify(value, null, indent)}\n`;
}

function refuse(file: string, why: string, cause?: unknown): VerbatimError {
  return new VerbatimError("HOOK_SETTINGS_INVALID", {
    message: `nothing was written: ${why}`,
    where: file,
    ...(cause === undefined ? {} : { cause }),
  });
}
