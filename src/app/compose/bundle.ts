import { existsSync, realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { createTwoFilesPatch } from "diff";
import { findBundle, openBundleFolder } from "../../adapters/disk/bundle-folder.ts";
import { createBundleFolder } from "../../adapters/disk/bundle-target.ts";
import { resolveInside } from "../../adapters/disk/inside-root.ts";
import { type Effect, LOCAL_DOORS } from "../../core/operation.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import type { BundleMakerPorts, BundlePorts } from "../../rooms/jobs/index.ts";
import type { Composition } from "./compose.ts";

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
      const found = findBundle(placeOf(composition, path));
      if ("problem" in found) return found;
      return { files: openBundleFolder(found.folder), attestation: besideOf(composition, found.folder) };
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

/** A place the caller names: anywhere for who stands at this machine, inside the workspace for everybody else. */
function placeOf({ door, start, workspace }: Composition, path: string): string {
  if (LOCAL_DOORS.includes(door)) return resolve(start, path);
  return resolveInside(workspace.root, parseRepoPath(path));
}

/** The attestation beside a bundle, as the caller's files name it. */
function besideOf({ door, workspace }: Composition, folder: string): string {
  const place = `${folder}.dsse.json`;
  return LOCAL_DOORS.includes(door) ? place : relative(realpathSync(workspace.root), place).replaceAll(sep, "/");
}
