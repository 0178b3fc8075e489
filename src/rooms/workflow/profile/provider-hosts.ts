import { isJsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { AgentProfile, ProviderFile } from "../contracts/agent-profile.ts";

export type ProfileHost = NonNullable<AgentProfile["network"]>["hosts"][number];

/**
 * The hosts of the model providers that the user's own configuration of an agent names: those that are known for a name, and
 * the address that it gives. What is no such file, or no https address, says nothing.
 */
export function readProviderHosts(
  { names, address }: ProviderFile,
  known: Readonly<Record<string, readonly ProfileHost[]>>,
  bytes: Uint8Array,
): ProfileHost[] {
  const providers = valueAt(readJson(bytes), names);
  if (!isJsonObject(providers)) return [];
  return Object.entries(providers).flatMap(([name, value]) => {
    const own = address === undefined ? undefined : valueAt(value, address);
    const host = typeof own === "string" ? readHost(own) : null;
    if (host !== null) return [host];
    return Object.hasOwn(known, name) ? [...known[name]!] : [];
  });
}

function readJson(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

function valueAt(value: JsonValue | undefined, pointer: string): JsonValue | undefined {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<JsonValue | undefined>(
      (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      value,
    );
}

/** `name` or `name:port` of an https address; names only, and nobody's password. */
function readHost(text: string): string | null {
  const [, name, port] = /^https:\/\/([A-Za-z0-9.-]+)(?::([1-9][0-9]{0,4}))?(?:[/?#]|$)/.exec(text) ?? [];
  if (name === undefined) return null;
  return port === undefined ? name.toLowerCase() : `${name.toLowerCase()}:${port}`;
}
