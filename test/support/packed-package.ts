import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type TestContext } from "vitest";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";
const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

/** What npm would publish, and a stranger's project that has installed it. */
export interface PackedPackage {
  /** The stranger's project. */
  readonly user: string;
  /** The package where the stranger has it. */
  readonly installed: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** Size of the archive. */
  readonly bytes: number;
  /** Leaves out a test that needs the installed package where npm could not be reached. */
  needsInstall(context: TestContext): void;
  remove(): void;
}

/** Ends with everything that a command printed. */
export function runIn(cwd: string, command: string, args: readonly string[]) {
  const shell = process.platform === "win32";
  return spawnSync(command, args, { cwd, encoding: "utf8", shell, maxBuffer: 64 * 1024 * 1024 });
}

/** Builds, packs, and installs the archive into an empty folder, as `npm install` does it for everybody. */
export function packAndInstall(name: string): PackedPackage {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-pack-"));
  const user = join(folder, "user");
  const build = runIn(ROOT, join(ROOT, "node_modules/.bin/tsx"), ["tools/build.ts"]);
  expect(build.status, build.stderr).toBe(0);
  const pack = runIn(ROOT, NPM, ["pack", "--json", "--pack-destination", folder]);
  expect(pack.status, pack.stderr).toBe(0);
  const [packed] = JSON.parse(pack.stdout) as [{ filename: string; size: number; files: PackedPackage["files"] }];
  mkdirSync(user);
  writeFileSync(join(user, "package.json"), '{ "name": "stranger", "private": true, "type": "module" }\n');
  const install = runIn(user, NPM, ["install", "--prefer-offline", join("..", packed.filename)]);
  const unreachable = UNREACHABLE.exec(install.stderr)?.[1];
  if (unreachable === undefined) expect(install.status, install.stderr).toBe(0);
  return {
    user,
    installed: join(user, "node_modules", name),
    files: packed.files,
    bytes: packed.size,
    needsInstall: (context) =>
      context.skip(unreachable !== undefined, `the npm registry cannot be reached (${unreachable})`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Packages of this checkout that the stranger has as well, without fetching them again. */
export function lend({ user }: PackedPackage, names: readonly string[]): void {
  for (const name of names) {
    const place = join(user, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), place);
  }
}

/** What the compiler says about files of the stranger, one line each. */
export function compile({ user }: PackedPackage, flags: readonly string[], files: readonly string[]): string[] {
  const target = ["--noEmit", "--strict", "--skipLibCheck", "--pretty", "false", "--target", "es2023"];
  const { stdout } = runIn(user, join(ROOT, "node_modules/.bin/tsc"), [...target, ...flags, ...files]);
  return stdout.split("\n").filter((line) => line !== "");
}

/** The address that a server of the installed package prints, and the process. */
export async function startStudio({ user, installed }: PackedPackage, token: string) {
  const args = [join(installed, "bin/verbatim.js"), "studio", "--port", "0", "--token", token];
  const child: ChildProcess = spawn(process.execPath, args, { cwd: user, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const address = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      said += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found !== null) resolve(found[0]);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return { address, child };
}

export const readManifest = () =>
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly exports: Record<string, unknown>;
  };
