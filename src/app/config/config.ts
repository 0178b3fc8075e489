import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { decodeUtf8, locatePointers, parseJson } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
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
  const pointers = problems.map(({ pointer }) => pointer);
  const places = locatePointers(text, pointers);
  const placed = problems.map((problem, i) => {
    const { line, column } = places[i]!;
    return { ...problem, where: `${CONFIG_FILE}:${line}:${column} ${problem.pointer}` };
  });
  throw new VerbatimError("CONFIG_INVALID", {
    message: `${CONFIG_FILE} has ${problems.length} problem${problems.length === 1 ? "" : "s"}`,
    where: placed[0]!.where,
    details: { problems: placed },
  });
}

// A configuration of more is not a configuration; a link to an endless device must not be read to the end.
const MAX_BYTES = 1024 * 1024;

function readConfigFile({ config }: Workspace): Uint8Array | null {
  let file: number;
  try {
    file = openSync(config, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw unreadable(config, "cannot be read", thrown);
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw unreadable(config, "is not a regular file");
    if (facts.size > MAX_BYTES) throw unreadable(config, `is larger than ${MAX_BYTES} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function unreadable(where: string, what: string, cause?: unknown): VerbatimError {
  return new VerbatimError("CONFIG_INVALID", {
    message: `${CONFIG_FILE} ${what}`,
    where,
    fix: `It must be a regular file of at most ${MAX_BYTES} bytes that you can read.`,
    ...(cause === undefined ? {} : { cause }),
  });
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
