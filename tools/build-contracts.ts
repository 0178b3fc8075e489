import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listOperations } from "../src/app/call.ts";
import { type ContractFiles, formatContractFiles } from "../src/app/hall/contract-files.ts";
import { CONTRACTS } from "../src/app/hall/contracts.ts";
import { reportFindings } from "./findings.ts";

/** The folder of the published contracts. */
export const CONTRACTS_FOLDER = fileURLToPath(new URL("../contracts", import.meta.url));

/** Everything that is generated: the schemas of the contract objects and of the operations. */
export async function generateContracts(): Promise<ContractFiles> {
  return formatContractFiles(CONTRACTS, await listOperations());
}

/** One line for every generated file that is missing, differs, or belongs to nothing any more. */
function findStale(folder: string, files: ContractFiles): string[] {
  const stale: string[] = [];
  for (const [path, text] of files) {
    const file = join(folder, path);
    if (!existsSync(file)) stale.push(`${path}: missing`);
    else if (readFileSync(file, "utf8") !== text) stale.push(`${path}: differs from its source`);
  }
  for (const path of listGenerated(folder)) {
    if (!files.has(path)) stale.push(`${path}: belongs to no contract`);
  }
  return stale;
}

/** Writes every generated file and removes those that belong to nothing any more. */
function writeContracts(folder: string, files: ContractFiles): void {
  for (const path of listGenerated(folder)) {
    if (!files.has(path)) rmSync(join(folder, path));
  }
  for (const [path, text] of files) {
    const file = join(folder, path);
    if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Paths of the schemas below the folder; everything else there is written by hand. */
function listGenerated(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => path.endsWith(".schema.json"));
}

/** Builds, or with `check` only looks; one line for everything that is stale afterwards. */
export function buildContracts(folder: string, files: ContractFiles, check: boolean): string[] {
  if (!check) writeContracts(folder, files);
  const stale = findStale(folder, files);
  return stale.length === 0 ? [] : [...stale, "run: npx tsx tools/build-contracts.ts"];
}

/** What is wrong after a call of this program with some arguments. */
export function runContracts(args: readonly string[], files: ContractFiles): string[] {
  const unknown = args.filter((arg) => arg !== "--check");
  if (unknown.length > 0) return [`unknown argument: ${unknown.join(" ")}`];
  return buildContracts(CONTRACTS_FOLDER, files, args.includes("--check"));
}

async function main(args: readonly string[]): Promise<void> {
  const files = await generateContracts();
  reportFindings(runContracts(args, files), `${files.size} contract schemas`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.slice(2));
