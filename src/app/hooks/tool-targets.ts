import { isJsonObject, type JsonObject } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";

/** What a tool call would touch, as the client named it. */
export interface ToolTargets {
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** Shell commands; their paths are found by reading the command. */
  readonly commands: readonly string[];
}

/** Tools of the four clients that change the file they name. */
const WRITERS = new Set([
  "Write",
  "Edit",
  "MultiEdit",
  "NotebookEdit",
  "StrReplace",
  "Delete",
  "EditNotebook",
  "TabWrite",
  "write_file",
  "replace",
]);

const READERS = new Set([
  "Read",
  "NotebookRead",
  "Glob",
  "Grep",
  "LS",
  "TabRead",
  "SemanticSearch",
  "read_file",
  "read_many_files",
  "list_directory",
  "glob",
  "grep_search",
  "search_file_content",
]);

const SHELLS = new Set(["Bash", "PowerShell", "Shell", "run_shell_command", "shell", "exec_command"]);

const PATH_KEYS = [
  "file_path",
  "notebook_path",
  "path",
  "target_file",
  "target_notebook",
  "filePath",
  "absolute_path",
  "dir_path",
  "destination",
  "paths",
  "file_paths",
  "files",
];

/**
 * The targets of one tool call. A tool nobody knows counts as a writer of every path it names: what cannot be told
 * apart is treated as the stricter of the two.
 */
export function listToolTargets(tool: string, input: JsonObject, isMcp: boolean): ToolTargets {
  if (!isMcp && tool === "apply_patch") {
    const text = ["command", "patch", "input"].map((key) => input[key]).find((value) => typeof value === "string");
    if (typeof text !== "string") throw missing(tool, "a patch");
    return { writes: listPatchedPaths(text), reads: [], commands: [] };
  }
  if (!isMcp && SHELLS.has(tool)) return { writes: [], reads: [], commands: [readCommand(tool, input)] };
  if (!isMcp && READERS.has(tool)) return { writes: [], reads: listPaths(input), commands: [] };
  if (!isMcp && WRITERS.has(tool)) {
    const writes = listPaths(input, (key) => {
      throw missing(tool, `a text at ${key}`);
    });
    if (writes.length === 0) throw missing(tool, "a path");
    return { writes, reads: [], commands: [] };
  }
  const command = input["command"];
  return { writes: listAllPaths(input), reads: [], commands: typeof command === "string" ? [command] : [] };
}

function readCommand(tool: string, input: JsonObject): string {
  const command = input["command"] ?? input["cmd"];
  if (typeof command === "string") return command;
  // A list is run as it stands: each word stays one word, however much is in it.
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) return command.map(quote).join(" ");
  throw missing(tool, "a command");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function listPaths(input: JsonObject, onOther: (key: string) => void = () => undefined): string[] {
  const found: string[] = [];
  for (const key of PATH_KEYS) {
    const value = input[key];
    const values = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (typeof one === "string" && one !== "") found.push(one);
      else if (one !== undefined && one !== null) onOther(key);
    }
  }
  return found;
}

/** The paths of a call in whatever it holds: tools that many make have lists of steps, each with its own. */
function listAllPaths(input: JsonObject): string[] {
  const found = listPaths(input);
  for (const value of Object.values(input)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (isJsonObject(one)) found.push(...listAllPaths(one));
    }
  }
  return found;
}

function missing(tool: string, what: string): VerbatimError {
  return new VerbatimError("HOOK_INPUT_INVALID", {
    message: `the call of ${JSON.stringify(tool)} names no target: ${what} is missing from tool_input`,
    where: "/tool_input",
  });
}

const FILE_LINE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/;
const MOVE_LINE = /^\*\*\* Move to: (.+)$/;

/** The paths a patch of the apply_patch tool names, both sides of a move included. Cost: one pass. */
export function listPatchedPaths(text: string): string[] {
  const paths: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const name = FILE_LINE.exec(line)?.[1] ?? MOVE_LINE.exec(line)?.[1];
    if (name !== undefined) paths.push(name.trim());
  }
  if (paths.length > 0) return paths;
  throw new VerbatimError("HOOK_INPUT_INVALID", {
    message: "the patch does not name a file",
    where: "/tool_input",
  });
}
