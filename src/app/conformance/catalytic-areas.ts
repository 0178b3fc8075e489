import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { encodeUtf8, isJsonObject, type JsonObject, type JsonValue, toJson } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import {
  CATALYTIC_AREAS,
  checkPaths,
  contentManifest,
  type DeclaredPaths,
  effectivePolicy,
  type FolderNow,
  isSameEntry,
  preflightArea,
  readTree,
  stateOf,
  type Tree,
  verifyRun,
} from "../../rooms/catalytic/index.ts";
import { attack } from "./catalytic-attack.ts";
import { type FileSpec, inFolder, makeFiles, PLAIN } from "./catalytic-fixture.ts";
import type { AreaFunction, AreaPorts } from "./ports.ts";

/** The areas of the catalytic room, on real disks and with real guards. */
export const CATALYTIC_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = {
  ...CATALYTIC_AREAS,
  "catalytic.preflight": preflight,
  "catalytic.snapshot": snapshot,
  "catalytic.verify": verify,
  "catalytic.fixture": (input) => ({ files: (input["files"] as JsonValue[]).length }),
  "catalytic.attack": attack,
};

function preflight(input: JsonObject, ports: AreaPorts): JsonValue | Promise<JsonValue> {
  const files = input["files"];
  if (!Array.isArray(files)) return preflightArea(input);
  return inFolder(ports, async (folder) => {
    await makeFiles(ports, folder, given<FileSpec[]>(files), PLAIN);
    const { policy, errors } = effectivePolicy(input["config"] ?? {});
    if (policy === null) return { ok: false, errors: toJson(errors), normalized: null };
    return toJson(checkPaths(policy, given<DeclaredPaths>(input["jobspec"]), ports.lookAt(folder)));
  });
}

function snapshot(input: JsonObject, ports: AreaPorts): Promise<JsonValue> {
  return inFolder(ports, async (folder) => {
    const domain = join(folder, "domain");
    const files = input["files"];
    if (Array.isArray(files)) {
      mkdirSync(domain);
      chmodSync(domain, 0o755);
      await makeFiles(ports, domain, given<FileSpec[]>(files), PLAIN);
    }
    const options = { strict_mtime: input["strict_mtime"] === true, max_entries: 1_000_000 };
    const tree = (await ports.disk.snapshot(domain, options)).entries as Tree;
    const { content_root, tree_root, entries, bytes } = stateOf(ports.crypto, tree);
    const content = Object.fromEntries(contentManifest(tree));
    return {
      tree: toJson(Object.fromEntries(tree)),
      content,
      content_root,
      tree_root,
      entries,
      bytes,
    };
  });
}

async function verify(input: JsonObject, ports: AreaPorts): Promise<JsonValue> {
  const files = new Map<string, Uint8Array>();
  collectFiles(input, ports, files);
  const pins = Object.values((input["pins"] ?? {}) as Record<string, string>);
  const tree = input["tree"];
  const result = await verifyRun(
    ports.crypto,
    { name: String(input["dirname"]), files },
    {
      pins,
      policy_sha256: typeof input["policy_sha256"] === "string" ? input["policy_sha256"] : null,
      strict_tree: input["tree_mode"] === "strict",
      tree: isJsonObject(tree)
        ? () => ({
            outputs: new Map(Object.entries((tree["outputs"] ?? {}) as Record<string, string | null>)),
            domains: new Map(
              Object.entries((tree["domains"] ?? {}) as JsonObject).map(([path, one]) => [path, toFolderNow(one)]),
            ),
          })
        : "skip",
    },
  );
  const { accepted, genuine, verified, condition, signature, tree: state } = result;
  return {
    accepted,
    genuine,
    verified,
    condition,
    signature: signature.state,
    tree: state,
    errors: result.errors.map((one) => [one.code, one.file ?? one.path ?? ""]),
    warnings: result.warnings.map((one) => one.code),
  };
}

/** A domain as a vector gives it; null is one that is gone. */
function toFolderNow(value: JsonValue): FolderNow | null {
  const now = value === null ? new Map() : readTree(value);
  if (now === null) return null;
  const isSame = (tree: Tree) =>
    tree.size === now.size &&
    [...tree].every(([path, entry]) => isSameEntry(entry, now.get(path) ?? { type: "other" }));
  return { isSame };
}

function collectFiles(input: JsonObject, ports: AreaPorts, files: Map<string, Uint8Array>): void {
  const base = ports.vectors?.find(({ id }) => id === input["base"]);
  if (base !== undefined) collectFiles(base.input, ports, files);
  for (const [name, text] of Object.entries((input["files"] ?? {}) as Record<string, string>))
    files.set(name, encodeUtf8(text));
  for (const name of (input["delete"] ?? []) as string[]) files.delete(name);
}
