import { GUARD_FACTS, type GuardName } from "../../../core/contracts/guards.ts";
import { type Code, isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { Declared } from "../declare/declare.ts";
import { contentHash } from "../outputs/outputs.ts";
import type { CatalyticPorts, RunDisk } from "../ports.ts";
import type { Journal } from "../record/journal.ts";
import { isOwnState, type Places, parentOf, placeOf } from "../run/places.ts";
import type { Layers } from "./layers.ts";
import { type Entry, formatTreeEntry, merkleRoot, type Tree, type Trees } from "./tree.ts";

const NEEDED = 1.1;

/**
 * Reads every domain (CMP-01, Phase 1). With `layers` it is the first reading, which also finds out whether the guard
 * can work on what is there.
 */
export async function snapshotDomains(
  ports: Pick<CatalyticPorts, "disk" | "progress" | "host">,
  places: Places,
  { jobspec, settings }: Declared,
  guard: GuardName,
  layers: Layers | null,
  journal: Journal,
): Promise<Trees> {
  const { disk, progress, host } = ports;
  const trees = new Map<string, Tree>();
  let entries = 0;
  let bytes = 0;
  for (const domain of jobspec.catalytic_domains) {
    const place = placeOf(places.root, domain);
    const method = GUARD_FACTS[guard].restore_method;
    if (layers !== null && method === "swap-back" && disk.isMountPoint(place)) {
      throw new VerbatimError("DOMAIN_IS_MOUNT_POINT", { where: domain, details: { domain, path: "." } });
    }
    const label = layers === null ? "restore" : "snapshot";
    const taken = await withDomain(domain, () =>
      disk.snapshot(place, {
        strict_mtime: jobspec.strict_mtime,
        max_entries: settings.limits.max_entries - entries,
        onProgress: (files, size) => progress.report({ label: `${label}: ${size} bytes of ${domain}`, done: files }),
        onChmod: (at, mode) => journal.record("CHMOD", { path: at, mode }),
      }),
    );
    const isWeak = guard === "ns-overlay" && host.uid !== 0;
    if (layers !== null && isWeak && taken.foreign !== null) {
      throw new VerbatimError("FOREIGN_OWNER", {
        where: `${domain}/${taken.foreign}`,
        details: { domain, path: taken.foreign },
      });
    }
    entries += taken.entries.size;
    bytes += taken.bytes;
    trees.set(domain, taken.entries as Tree);
  }
  if (layers !== null && GUARD_FACTS[guard].restore_method !== "discard-upper")
    await checkSpace(disk, places, layers, bytes, settings.limits);
  return trees;
}

async function withDomain<T>(domain: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { code, message, details, fix } = thrown;
    const path = String(details?.["path"] ?? "");
    throw new VerbatimError(code, {
      message: `${domain}: ${message}`,
      where: `${domain}/${path}`,
      fix,
      details: { domain, path },
      cause: thrown,
    });
  }
}

async function checkSpace(
  disk: RunDisk,
  places: Places,
  layers: Layers,
  domainBytes: number,
  limits: { readonly stage_copy_bytes: number },
): Promise<void> {
  let staged = 0;
  for (const anchor of layers.anchors) {
    const scan = await disk.scan(placeOf(places.root, anchor), {
      from: [""],
      skip: () => false,
      max_entries: Number.MAX_SAFE_INTEGER,
    });
    for (const packed of scan.packed.values()) staged += disk.unpack(packed).size;
  }
  const refuse = (code: Code, needed: number, available: number) =>
    new VerbatimError(code, {
      message: `${needed} bytes needed, ${available} available`,
      details: { path: "", needed, available },
    });
  if (staged > limits.stage_copy_bytes) throw refuse("STAGING_TOO_LARGE", staged, limits.stage_copy_bytes);
  const needed = Math.ceil((domainBytes + staged) * NEEDED);
  const available = disk.freeBytes(places.work);
  if (needed > available) throw refuse("DISK_SPACE_LOW", needed, available);
}

export interface InputHashes {
  /** Path -> hash: files by content, links by target. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Declared input -> Merkle root of its tree. */
  readonly roots: ReadonlyMap<string, string>;
}

/** Reads the declared inputs. */
export async function hashInputs(
  { disk, crypto }: Pick<CatalyticPorts, "disk" | "crypto">,
  places: Places,
  { jobspec, policy, settings }: Declared,
): Promise<InputHashes> {
  const hashes = new Map<string, string>();
  const roots = new Map<string, string>();
  for (const input of jobspec.inputs) {
    const prefix = input === "." ? "" : `${input}/`;
    const taken = await disk.snapshot(placeOf(places.root, input), {
      strict_mtime: false,
      max_entries: settings.limits.max_entries,
      lenient: true,
      skip: (path) => isOwnState(prefix + path, policy) || prefix + path === places.record_path,
    });
    for (const [path, entry] of taken.entries) {
      const hash = entry.type === "other" ? null : contentHash(crypto, entry);
      if (hash !== null) hashes.set(path === "." ? input : prefix + path, hash);
    }
    const entries = [...taken.entries].map(([path, entry]) => [path, crypto.sha256(formatTreeEntry(entry))] as const);
    roots.set(input, merkleRoot(crypto, new Map(entries)));
  }
  return { hashes, roots };
}

/**
 * The second attempt: modes, links and empty folders come back from PRE_TREE. Content is never overwritten, because a
 * difference that is left now was made by someone else.
 */
export function repairDomains(disk: RunDisk, root: string, pre: Trees, post: Trees): void {
  for (const [domain, tree] of pre) {
    const now = post.get(domain) ?? new Map<string, Entry>();
    for (const [path, entry] of tree) {
      const place = path === "." ? placeOf(root, domain) : `${placeOf(root, domain)}/${path}`;
      const there = now.get(path);
      if (there === undefined) {
        // What stands in the place of its folder now is not ours: a link there would lead out of the domain.
        if (disk.stat(place) !== null || disk.stat(parentOf(place))?.kind !== "dir") continue;
        if (entry.type === "dir") disk.createFolder(place, Number.parseInt(entry.mode, 8));
        else if (entry.type === "symlink") disk.link(entry.target, place);
      } else if (entry.type !== "symlink" && there.type === entry.type && there.mode !== entry.mode) {
        disk.setMode(place, Number.parseInt(entry.mode, 8));
      }
    }
  }
}
