import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const PACKAGE = join("node_modules", "@photostructure", "sqlite");

/** Variables by which people choose another build of a native package. */
const CHOICES = [
  "@PHOTOSTRUCTURE/SQLITE_PREBUILD",
  "ARM_VERSION",
  "LIBC",
  "PREBUILDS_ONLY",
  "npm_config_arch",
  "npm_config_platform",
];

/**
 * The ready-made native part of the SQLite package as seen from a folder, or null where the package must choose by
 * itself: its own search for it takes longer than opening the database.
 */
export function findAddon(
  from: string,
  { arch, env, platform }: Pick<NodeJS.Process, "arch" | "env" | "platform"> = process,
): string | null {
  if (CHOICES.some((name) => env[name] !== undefined) || existsSync("/etc/alpine-release")) return null;
  for (let folder = from; ; folder = dirname(folder)) {
    const home = join(folder, PACKAGE);
    const file = join(home, "prebuilds", `${platform}-${arch}`, "@photostructure+sqlite.glibc.node");
    if (existsSync(file)) return existsSync(join(home, "build")) ? null : file;
    if (existsSync(home) || folder === dirname(folder)) return null;
  }
}
