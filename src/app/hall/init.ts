import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type JsonObject, parseJson, sortedByCodePoint } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { isRepoPath, looksSecret } from "../../core/paths/index.ts";
import { type FoundCommand, findVerifyCommands } from "../../rooms/workflow/index.ts";

/** A glob that would be indexed, and how much it selects. */
interface ProposedSource {
  readonly glob: string;
  readonly files: number;
  readonly bytes: number;
}

interface Proposal {
  readonly config: JsonObject;
  readonly sources: readonly ProposedSource[];
  /** Plain sentences: what was seen, and why this is proposed. */
  readonly reasons: readonly string[];
}

/** The contract's canonical sources (Catalytic Chat Contract, Canonical Sources), as folder, depth and ending. */
const DEFAULT_SOURCES = [
  ["LAW/CANON", "*", ".md"],
  ["LAW/CONTEXT", "**", ".md"],
  ["SKILLS", "**", ".md"],
  ["TOOLS", "**", ".md"],
  ["CONTRACTS", "**", ".md"],
  ["CORTEX/db", "**", ".sql"],
] as const;

const MANDATORY_DOCS = [
  "AGENTS.md",
  "ai_context/00_AI_CONTRACT.md",
  "ai_context/CTCP_FAST_RULES.md",
  "docs/00_CORE.md",
  "PATCH_README.md",
] as const;

const MAX_PACKAGE = 16 * 1024 * 1024;
const NEVER: ReadonlySet<string> = new Set([".git", ".verbatim", "node_modules"]);

/** What an index would hold here without any configuration. */
export interface DefaultSources {
  readonly rule: "configuration" | "contract" | "git";
  readonly files: number;
  readonly bytes: number;
  /** Folders at the top in which git tracks files: sources, whatever they are called. */
  readonly folders: ReadonlySet<string>;
}

/**
 * Looks at a repository and proposes a configuration. Reads names and sizes only, and the files that name test commands.
 * `found` is what an index without a configuration would hold; what git tracks is proposed as that rule, not as globs.
 */
export function proposeConfig(root: string, found: DefaultSources | null = null): Proposal {
  const reasons: string[] = [];
  const isTracked = found?.rule === "git" && found.files > 0;
  if (isTracked) {
    const many = `${found.files} ${found.files === 1 ? "file" : "files"}, ${found.bytes} bytes`;
    reasons.push(`indexed are the text files that git tracks (${many})`);
    reasons.push("functions, classes, methods, types and constants of code are sections, like headings");
  }
  const sources = isTracked ? [] : proposeSources(root, reasons);
  // Globs that match nothing would stand in the way of the rule for repositories that name none.
  const context: JsonObject =
    sources.length === 0 ? { outline: "markdown+code" } : { sources: sources.map(({ glob }) => glob) };
  const config: JsonObject = { context };
  const workflow: JsonObject = {};
  const docs = MANDATORY_DOCS.filter((path) => isFile(join(root, path)));
  if (docs.length > 0) {
    workflow["mandatory_docs"] = docs.map((path) => ({ path, required: true }));
    reasons.push(`contract documents at the start of every context pack: ${docs.join(", ")}`);
  }
  const verify = findVerifyCommand(root, reasons);
  if (verify !== undefined) {
    workflow["verify"] = { gates: { lite: [{ argv: verify.command.split(" ") }] } };
    reasons.push(`verify command ${verify.command}, because of ${verify.file}`);
  } else reasons.push("no verify command found: write yours under agent.verify.commands, or give it at each run");
  if (Object.keys(workflow).length > 0) config["workflow"] = workflow;
  config["catalytic"] = proposeCatalytic(root, found?.folders ?? new Set(), reasons);
  return { config, sources, reasons };
}

/** Folders that builds fill, and folders that may be emptied at any time. */
const DURABLE = ["dist", "build", "coverage"];
const CACHES = [".cache", "node_modules/.cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".turbo"];

/** The roots of catalytic runs: the house's own, and those of the repository that exist. */
function proposeCatalytic(root: string, sources: ReadonlySet<string>, reasons: string[]): JsonObject {
  const durable = DURABLE.filter((path) => isFolder(join(root, path)) && !sources.has(path));
  const caches = CACHES.filter((path) => isFolder(join(root, path)));
  const secret = listEntries(root).flatMap(({ name }) => (looksSecret(name) && isRepoPath(name) ? [name] : []));
  const canon = isFolder(join(root, "LAW/CANON")) ? ["LAW/CANON"] : [];
  const forbidden = sortedByCodePoint([...secret, ...canon]);
  reasons.push(`outputs of catalytic runs may go to ${[".verbatim/out", ...durable].join(", ")}`);
  reasons.push(`catalytic runs may change and restore ${[".verbatim/scratch", ...caches].join(", ")}`);
  reasons.push(`never writable by a run: ${[".git", ".verbatim", "verbatim.config.json", ...forbidden].join(", ")}`);
  return {
    profile: "standard",
    ...(durable.length > 0 ? { durable_roots: [".verbatim/out", ...durable] } : {}),
    ...(caches.length > 0 ? { catalytic_roots: [".verbatim/scratch", ...caches] } : {}),
    ...(forbidden.length > 0 ? { forbidden_roots: forbidden } : {}),
  };
}

function proposeSources(root: string, reasons: string[]): ProposedSource[] {
  const defaults = DEFAULT_SOURCES.map(([folder, depth, ending]) => ({
    glob: depth === "*" ? `${folder}/*${ending}` : `${folder}/**/*${ending}`,
    ...measure(join(root, folder), [ending], depth === "**"),
  }));
  if (defaults.some(({ files }) => files > 0)) {
    reasons.push(
      "the folders of the Catalytic Chat Contract (LAW, SKILLS, ...), because at least one of them has files",
    );
    return defaults;
  }
  const own = [{ glob: "*.md", ...measure(root, [".md"], false) }];
  for (const name of sortedByCodePoint(listFolders(root))) {
    own.push({ glob: `${name}/**/*.md`, ...measure(join(root, name), [".md"], true) });
  }
  const found = own.filter(
    ({ files, glob }) => files > 0 && !/[[\]{}!*?\\]/.test(glob.split("/")[0]!.replace("*.md", "")),
  );
  if (found.length > 0) {
    reasons.push("every folder that contains Markdown files");
    return found;
  }
  reasons.push("there is nothing to index yet; in a git repository, the text files that git tracks will be");
  return [];
}

function measure(folder: string, endings: readonly string[], deep: boolean): { files: number; bytes: number } {
  let files = 0;
  let bytes = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of listEntries(next)) {
      const place = join(next, entry.name);
      if (entry.isDirectory() && deep && !NEVER.has(entry.name)) waiting.push(place);
      else if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) {
        files++;
        bytes += lstatSync(place, { throwIfNoEntry: false })?.size ?? 0;
      }
    }
  }
  return { files, bytes };
}

function listFolders(root: string): string[] {
  return listEntries(root).flatMap((entry) => (entry.isDirectory() && !NEVER.has(entry.name) ? [entry.name] : []));
}

// A folder that is missing or may not be read has nothing to propose; the index build will name it if it matters.
function listEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR") return [];
    throw thrown;
  }
}

function isFolder(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isFile() === true;
}

/** The likeliest test command of a repository: the table is that of `verbatim agent`. */
function findVerifyCommand(root: string, reasons: string[]): FoundCommand | undefined {
  const [first] = findVerifyCommands({
    // Gates also run in checkouts, which have no virtual environment.
    isThere: (path) => !path.startsWith(".venv/") && isFile(join(root, path)),
    read: (path) => readSmall(join(root, path), path, reasons),
  });
  return first;
}

/** A file that is not what its name says is no reason to propose nothing at all. */
function readSmall(place: string, path: string, reasons: string[]): Uint8Array | null {
  const bytes = readFileSync(place);
  if (path !== "package.json") return bytes;
  try {
    parseJson(bytes, { file: path, maxBytes: MAX_PACKAGE });
    return bytes;
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const reason = `${path} was left out: ${thrown.code} ${thrown.message}`;
    // Several rows of the table ask for it.
    if (!reasons.includes(reason)) reasons.push(reason);
    return null;
  }
}

/** Minimal versions of the documents every context pack begins with (Artifact Contracts B.1). */
const CONTRACT_DOCS: Readonly<Record<string, string>> = {
  "AGENTS.md": `# Agents

- Change only what the plan's scope allows.
- Hand in one unified diff against the base commit; never edit the repository directly.
- Say what you do not know.
`,
  "ai_context/00_AI_CONTRACT.md": `# Contract

1. Text from the repository is quoted, never paraphrased.
2. A change lands only after the patch gate and every gate of the plan have passed.
3. Reviews are about one draft, named by its hash.
`,
  "ai_context/CTCP_FAST_RULES.md": `# Fast rules

- Patch only: first bytes \`diff --git\`, no prose, no fences.
- Stay inside Scope-Allow, outside Scope-Deny.
- Small: few files, few lines.
`,
};

/** Writes the documents that are missing and says which; an existing one is never touched. */
export function createContractDocs(root: string): string[] {
  return Object.entries(CONTRACT_DOCS).flatMap(([path, text]) => {
    const place = join(root, path);
    if (existsSync(place)) return [];
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text, { flag: "wx" });
    return [path];
  });
}
