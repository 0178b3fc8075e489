import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { QUARANTINE_FOLDER } from "../contracts/constants.ts";
import type { CatalyticPorts } from "../ports.ts";

/** The regular files of a run directory. */
export function readRecord(disk: CatalyticPorts["disk"], record: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (const name of disk.list(record) ?? []) {
    if (name.startsWith(".tmp-") || disk.stat(`${record}/${name}`)?.kind !== "file") continue;
    const bytes = disk.read(`${record}/${name}`);
    if (bytes !== null) files.set(name, bytes);
  }
  return files;
}

/** What else is in a run directory: links, folders, special files and files that were never renamed into place. */
export function listStrays(disk: CatalyticPorts["disk"], record: string): string[] {
  return (disk.list(record) ?? []).filter((name) => {
    const kind = disk.stat(`${record}/${name}`)?.kind;
    return kind === "file" ? name.startsWith(".tmp-") : !(kind === "dir" && name === QUARANTINE_FOLDER);
  });
}

/** A JSON artifact of a run directory, or null. */
export function readArtifact(disk: CatalyticPorts["disk"], record: string, name: string): JsonObject | null {
  const value = parseOrNothing(disk.read(`${record}/${name}`));
  return isJsonObject(value) ? value : null;
}

/** The JSON value of an artifact, or undefined where there is none. */
export function parseOrNothing(content: Uint8Array | string | null): JsonValue | undefined {
  if (content === null) return undefined;
  try {
    return parseJson(content);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}
