import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { writeDurably } from "../../adapters/disk/durable/durable-write.ts";
import { readGuarded } from "../../adapters/disk/guarded/guarded-file.ts";
import { listWhileWritten, readStartWhileWritten, readWhileWritten } from "../../adapters/disk/guarded/guarded-walk.ts";
import { createPrivately, replacePrivately } from "../../adapters/disk/guarded/private-file.ts";
import { runDisk } from "../../adapters/disk/runs/run-disk.ts";
import { readHost } from "../../adapters/process/host.ts";
import { type JsonValue, parseJson, sortedByCodePoint } from "../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";
import type { UserPorts } from "../agent/ports.ts";
import { USER_CONFIG_FILE } from "../config/config.ts";
import type { Composition } from "./compose.ts";
import { userFolders } from "./store/workspace.ts";

const ALLOWED = "allowed-commands";
const PRICES = "prices.json";
const MOST_PROFILE_BYTES = 256 * 1024;

/** The user's own files, as agents' runs need them. */
export function userPorts({ env, platform, workspace, start, userState }: Composition): UserPorts {
  const { config } = userFolders(env, platform);
  return {
    env,
    home: readHost().home,
    configFile: join(config, USER_CONFIG_FILE),
    profiles: () => readProfiles(join(config, "profiles")),
    readJson: (file) => readProfileFile(resolve(start, file)),
    realProgram(word) {
      const found = runDisk.findExecutable(word, workspace.root, env["PATH"] ?? "/usr/bin:/bin");
      return found === null ? null : realpathSync(found);
    },
    readFile(place, most) {
      const facts = statSync(place, { throwIfNoEntry: false });
      return facts?.isFile() === true ? readGuarded(realpathSync(place), most) : null;
    },
    readAllowed: (key) => readAllowed(join(userState, ALLOWED, `${key}.json`)),
    writeAllowed: (key, bytes) => writeDurably(join(userState, ALLOWED, `${key}.json`), bytes, 0o600),
    readInside: readWhileWritten,
    listInside: listWhileWritten,
    readStart: readStartWhileWritten,
    prices: () => readPriceFile(join(config, PRICES)),
    replaceFile: replacePrivately,
    createFile: createPrivately,
    every(ms, act) {
      const timer = setInterval(act, ms);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

/** What another user can write to says nothing about what this one allowed. */
function readAllowed(place: string): JsonValue | null {
  const facts = lstatSync(place, { throwIfNoEntry: false });
  if (facts?.isFile() !== true) return null;
  const { uid } = readHost();
  if (uid !== null && (facts.uid !== uid || (facts.mode & 0o022) !== 0)) return null;
  const bytes = readGuarded(place, MOST_PROFILE_BYTES);
  try {
    return bytes === null ? null : parseJson(bytes, { file: place });
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}

function readProfiles(folder: string): { readonly place: string; readonly value: JsonValue }[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return sortedByCodePoint(names).map((name) => {
    const place = join(folder, name);
    return { place, value: readProfileFile(place) };
  });
}

/** The prices that the user wrote; null: none. CONFIG_INVALID where they cannot be read. */
function readPriceFile(place: string): { readonly place: string; readonly value: JsonValue } | null {
  if (!existsSync(place)) return null;
  const bytes = readGuarded(realpathSync(place), MOST_PROFILE_BYTES);
  if (bytes === null) {
    const message = `the prices are not a regular file of at most ${MOST_PROFILE_BYTES} bytes`;
    throw new VerbatimError("CONFIG_INVALID", { message, where: place });
  }
  try {
    return { place, value: parseJson(bytes, { file: place }) };
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw new VerbatimError("CONFIG_INVALID", { message: `the prices are not JSON: ${thrown.message}`, where: place });
  }
}

function readProfileFile(place: string): JsonValue {
  if (!existsSync(place))
    throw new VerbatimError("FILE_NOT_FOUND", { message: `${place} does not exist`, where: place });
  const bytes = readGuarded(realpathSync(place), MOST_PROFILE_BYTES);
  if (bytes === null) throw invalid(place, `is not a regular file of at most ${MOST_PROFILE_BYTES} bytes`);
  try {
    return parseJson(bytes, { file: place });
  } catch (thrown) {
    throw isVerbatimError(thrown) ? invalid(thrown.where ?? place, `is not JSON: ${thrown.message}`) : thrown;
  }
}

function invalid(where: string, what: string): VerbatimError {
  return new VerbatimError("PROFILE_INVALID", { message: `the profile ${what}`, where });
}
