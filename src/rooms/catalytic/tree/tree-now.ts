import { isVerbatimError } from "../../../core/errors/index.ts";
import { findLexicalCode } from "../declare/path-rules.ts";
import { contentHash } from "../outputs/outputs.ts";
import type { CatalyticPorts, FolderNow } from "../ports.ts";
import { readArtifact } from "../record/record-files.ts";
import type { RecordPlace } from "../record/records.ts";
import { placeOf } from "../run/places.ts";
import type { TreeNow } from "../verify/verify.ts";

type LookPorts = Pick<CatalyticPorts, "disk" | "crypto">;

/**
 * Begins to read the outputs and domains a record names, as they are now, alongside the verification of the record itself;
 * null without a tree to look at.
 */
export function beginLook({ disk, crypto }: LookPorts, { record, root }: RecordPlace): (() => Promise<TreeNow>) | null {
  if (root === null) return null;
  const hashes = readArtifact(disk, record, "OUTPUT_HASHES.json");
  const jobspec = readArtifact(disk, record, "JOBSPEC.json");
  const domains = jobspec?.["catalytic_domains"];
  if (hashes === null || !Array.isArray(domains) || jobspec?.["view"] === true) return null;
  const options = { strict_mtime: jobspec?.["strict_mtime"] === true, max_entries: Number.MAX_SAFE_INTEGER };
  // The record is not checked yet: what is not a path in the root is not read.
  const begun = domains
    .filter((domain): domain is string => typeof domain === "string" && findLexicalCode(domain) === null)
    .map((domain) => [domain, disk.beginSnapshot(placeOf(root, domain), options)] as const);
  return async () => {
    const outputs = new Map<string, string | null>();
    for (const path of Object.keys(hashes)) {
      const { entries } = await disk.snapshot(placeOf(root, path), { ...options, strict_mtime: false, lenient: true });
      const entry = entries.get(".");
      outputs.set(path, entry === undefined || entry.type === "other" ? null : contentHash(crypto, entry));
    }
    const trees = new Map<string, FolderNow | null>();
    for (const [domain, finish] of begun) trees.set(domain, await readOrNull(finish));
    return { outputs, domains: trees };
  };
}

async function readOrNull(finish: ReturnType<CatalyticPorts["disk"]["beginSnapshot"]>): Promise<FolderNow | null> {
  try {
    return await finish();
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}
