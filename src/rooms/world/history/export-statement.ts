import { formatCanonical, type JsonObject, type JsonValue, parseObject } from "../../../core/canonical/index.ts";
import { readItems, readMember, readText } from "../../../core/contracts/index.ts";
import type { Crypto } from "../../../core/ports.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";

/** Whether the statement inside a signed manifest is about this manifest; one without a signature has none. */
export function findForeignStatement(value: JsonValue): string[] {
  const { signature, ...manifest } = value as JsonObject;
  if (signature === undefined) return [];
  const payload = decodeBase64(readText(signature, "payload") ?? "");
  const statement = parseObject(payload);
  const subject = readItems(statement ?? {}, "subject")[0];
  const named = readMember(readMember(statement ?? {}, "predicate"), "manifest") ?? null;
  const isOurs =
    readText(readMember(subject, "digest"), "sha256") === manifest["file_sha256"] &&
    formatCanonical(named) === formatCanonical(manifest);
  return isOurs ? [] : ["/signature/payload"];
}

/** Sections of an export without lines whose hash is not the hash of nothing. */
export async function findWrongSections(value: JsonValue, crypto: Crypto): Promise<string[]> {
  const empty = await crypto.sha256("");
  const sections = readMember(value, "sections") as JsonObject;
  return Object.keys(sections)
    .filter((name) => readMember(sections[name], "count") === 0 && readText(sections[name], "sha256") !== empty)
    .map((name) => `/sections/${name}/sha256`);
}
