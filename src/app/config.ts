import { readFileSync } from "node:fs";
import { decodeUtf8, locatePointer, parseJson } from "../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../core/errors/index.ts";
import { CONFIG, type Config, type ResolvedConfig, withDefaults } from "./config-schema.ts";
import { CONFIG_FILE, type Workspace } from "./workspace.ts";

/** Reads verbatim.config.json. A missing file means all defaults; anything wrong is CONFIG_INVALID with every line. */
export function loadConfig(workspace: Workspace): ResolvedConfig {
  const bytes = readConfigFile(workspace);
  return withDefaults(bytes === null ? {} : parseConfig(bytes));
}

/** Judges the bytes of a configuration; problems carry file, line and pointer. */
export function parseConfig(bytes: Uint8Array): Config {
  const value = parseOrRefuse(bytes);
  const problems = CONFIG.check(value);
  if (problems.length === 0) return value as Config;
  const text = decodeUtf8(bytes) ?? "";
  const placed = problems.map((problem) => {
    const { line, column } = locatePointer(text, problem.pointer);
    return { ...problem, where: `${CONFIG_FILE}:${line}:${column} ${problem.pointer}` };
  });
  throw new VerbatimError("CONFIG_INVALID", {
    message: `${CONFIG_FILE} has ${problems.length} problem${problems.length === 1 ? "" : "s"}`,
    where: placed[0]!.where,
    details: { problems: placed },
  });
}

function readConfigFile(workspace: Workspace): Uint8Array | null {
  try {
    return readFileSync(workspace.config);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new VerbatimError("CONFIG_INVALID", {
      message: `${CONFIG_FILE} cannot be read`,
      where: workspace.config,
      fix: "It must be a regular file that you may read.",
      cause: thrown,
    });
  }
}

function parseOrRefuse(bytes: Uint8Array) {
  try {
    return parseJson(bytes, { file: CONFIG_FILE });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { code, message, where = CONFIG_FILE } = thrown;
    throw new VerbatimError("CONFIG_INVALID", {
      message: `${CONFIG_FILE} is not JSON: ${message}`,
      where,
      details: { problems: [{ code, pointer: "", message, where }] },
      cause: thrown,
    });
  }
}
