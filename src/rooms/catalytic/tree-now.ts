import { isVerbatimError } from "../../core/errors/index.ts";
import { contentHash } from "./outputs.ts";
import { placeOf } from "./places.ts";
import { readArtifact } from "./record-files.ts";
import type { RecordPlace } from "./records.ts";
import type { RoomPorts } from "./room-ports.ts";
import type { Tree } from "./tree.ts";
import type { TreeNow } from "./verify.ts";

/** Reads the outputs and domains a record names, as they are now; null without a tree to look at. */
export async function lookAtTree({ disk, crypto }: RoomPorts, { record, root }: RecordPlace): Promise<TreeNow | null> {
  if (root === null) return null;
  const hashes = readArtifact(disk, record, "OUTPUT_HASHES.json");
  const jobspec = readArtifact(disk, record, "JOBSPEC.json");
  const domains = jobspec?.["catalytic_domains"];
  if (hashes === null || !Array.isArray(domains) || jobspec?.["view"] === true) return null;
  const options = { strict_mtime: jobspec?.["strict_mtime"] === true, max_entries: Number.MAX_SAFE_INTEGER };
  const outputs = new Map<string, string | null>();
  for (const path of Object.keys(hashes)) {
    const { entries } = await disk.snapshot(placeOf(root, path), { ...options, strict_mtime: false, lenient: true });
    const entry = entries.get(".");
    outputs.set(path, entry === undefined || entry.type === "other" ? null : contentHash(crypto, entry));
  }
  const trees = new Map<string, Tree | null>();
  for (const domain of domains as readonly string[]) {
    try {
      trees.set(domain, (await disk.snapshot(placeOf(root, domain), options)).entries as Tree);
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      trees.set(domain, null);
    }
  }
  return { outputs, domains: trees };
}
