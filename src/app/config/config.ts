import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { decodeUtf8, locatePointers, parseJson } from "../../core/canonical/index.ts";
import {
  CONFIG,
  type Config,
  mergeAgentConfig,
  type ResolvedConfig,
  USER_CONFIG,
  type UserConfig,
  withDefaults,
} from "../../core/contracts/config/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import { isAbsence } from "../../core/errors/system.ts";
import { CONFIG_FILE, type Workspace } from "./workspace.ts";

/** The user's own configuration, in their configuration folder. */
export const USER_CONFIG_FILE = "config.json";

/**
 * Reads verbatim.config.json and what the user's own configuration says about agents. A missing file means all defaults;
 * anything wrong is CONFIG_INVALID with every line.
 */
export function loadConfig(workspace: Workspace, userFolder: string): ResolvedConfig {
  const bytes = readConfigFile(workspace.config);
  const config = bytes === null ? {} : parseConfig(bytes);
  const { agent: user = {} } = loadUserConfig(userFolder);
  const trusted = (user.trust ?? []).some((path) => isSamePlace(path, workspace.root));
  const { config: agent, untrusted, caps_at_most } = mergeAgentConfig(user, config.agent ?? {}, trusted, config);
  const resolved = withDefaults({ ...config, agent });
  return { ...resolved, agent: { ...resolved.agent, untrusted, caps_at_most } };
}

function loadUserConfig(folder: string): UserConfig {
  const place = join(folder, USER_CONFIG_FILE);
  const bytes = readConfigFile(place);
  return bytes === null ? {} : (parseWith(USER_CONFIG, bytes, place) as UserConfig);
}

/** Whether a path that the user wrote is this root, links followed. A place that is not there is nobody's. */
function isSamePlace(path: string, root: string): boolean {
  const place = path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
  try {
    return realpathSync(place) === realpathSync(root);
  } catch (thrown) {
    if (isAbsence(thrown)) return false;
    throw thrown;
  }
}

/** Judges the bytes of a configuration; problems carry file, line and pointer. */
export function parseConfig(bytes: Uint8Array): Config {
  return parseWith(CONFIG, bytes, CONFIG_FILE) as Config;
}

function parseWith(contract: typeof CONFIG | typeof USER_CONFIG, bytes: Uint8Array, file: string): unknown {
  const value = parseOrRefuse(bytes, file);
  const problems = contract.check(value);
  if (problems.length === 0) return value;
  const text = decodeUtf8(bytes) ?? "";
  const pointers = problems.map(({ pointer }) => pointer);
  const places = locatePointers(text, pointers);
  const placed = problems.map((problem, i) => {
    const { line, column } = places[i]!;
    return { ...problem, where: `${file}:${line}:${column} ${problem.pointer}` };
  });
  throw new VerbatimError("CONFIG_INVALID", {
    message: `${file} has ${problems.length} problem${problems.length === 1 ? "" : "s"}`,
    where: placed[0]!.where,
    details: { problems: placed },
  });
}

// A configuration of more is not a configuration; a link to an endless device must not be read to the end.
const MAX_BYTES = 1024 * 1024;

function readConfigFile(config: string): Uint8Array | null {
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
    message: `${basename(where)} ${what}`,
    where,
    fix: `It must be a regular file of at most ${MAX_BYTES} bytes that you can read.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

function parseOrRefuse(bytes: Uint8Array, file: string) {
  try {
    return parseJson(bytes, { file });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const { code, message, where = file } = thrown;
    throw new VerbatimError("CONFIG_INVALID", {
      message: `${file} is not JSON: ${message}`,
      where,
      details: { problems: [{ code, pointer: "", message, where }] },
      cause: thrown,
    });
  }
}
