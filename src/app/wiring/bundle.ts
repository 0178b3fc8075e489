import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import { findBundle, openBundleFolder } from "../../adapters/disk/bundle-folder.ts";
import { createBundleFolder } from "../../adapters/disk/bundle-target.ts";
import type { Effect } from "../../core/operation.ts";
import type { BundleMakerPorts } from "../../rooms/jobs/bundle-build-operation.ts";
import type { BundlePorts } from "../../rooms/jobs/bundle-operations.ts";
import type { Composition } from "../compose.ts";

/** Ports of the operations on bundles. Only building one opens a store; all others work anywhere. */
export async function bundlePorts(
  composition: Composition,
  effect: Effect,
  name: string,
): Promise<BundlePorts | BundleMakerPorts> {
  const { crypto, files, keys, start, clock } = composition;
  const base: BundlePorts = {
    crypto,
    files,
    openBundle(path) {
      const found = findBundle(resolve(start, path));
      if ("problem" in found) return found;
      return { files: openBundleFolder(found.folder), attestation: `${found.folder}.dsse.json` };
    },
    loadKey: (key) => keys.load(key),
    diffLines: (file, a, b) => createTwoFilesPatch(file, file, a, b, "", ""),
  };
  if (name !== "jobs.bundle-build") return base;
  return {
    ...base,
    store: await composition.store(effect),
    content: await composition.content(effect),
    actor: composition.actor,
    createFolder: (path, fill) =>
      createBundleFolder(resolve(start, path), clock.now(), (folder, sink) => fill(sink, openBundleFolder(folder))),
    exists: (path) => existsSync(resolve(start, path)),
  };
}
