import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { syncFolder, writeDurably } from "../../../adapters/disk/durable/durable-write.ts";
import { findCommonDir } from "../../../adapters/git/top-level.ts";
import { formatCanonical, isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { errnoCode, isAbsence, toDiskError } from "../../../core/errors/system.ts";
import type { Random } from "../../../core/ports.ts";
import type { RepoIdentity, RepoIdentityPort } from "../../../rooms/workflow/index.ts";
import type { Workspace } from "../../config/workspace.ts";
import { createStateFolder, toWorkspace } from "./workspace.ts";

const VERSION = "verbatim-repo-v1";
const FILE = "repo.json";
const ID = /^[0-9a-f]{32}$/;
const MOST_BYTES = 64 * 1024;
/** It is replaced once in the life of a copy; whoever goes on replacing it wants something else. */
const MOST_TRIES = 1000;

/** What repo.json says, with what tells this file from a copy of it. */
interface Recorded extends RepoIdentity {
  readonly file: string;
}

/** Who a workspace is: an id that moves with its folder and that no copy keeps. */
export function createRepoIdentity(
  workspace: Workspace,
  random: Random,
  onCreated: (folder: string) => void = () => undefined,
): RepoIdentityPort {
  return {
    current: () => {
      const recorded = readRecorded(workspace);
      if (recorded === null) return null;
      if (recorded.root !== workspace.root) return settleWhereItMay(workspace, random, recorded);
      return toIdentity(workspace, recorded.repo_id);
    },
    settle: () => {
      if (createStateFolder(workspace)) onCreated(workspace.folder);
      return settle(workspace, random);
    },
    livesAt,
  };
}

function settle(workspace: Workspace, random: Random): RepoIdentity {
  const recorded = readRecorded(workspace);
  if (recorded === null) {
    const made = toIdentity(workspace, Buffer.from(random.bytes(16)).toString("hex"));
    return create(workspace, made) ? made : settle(workspace, random);
  }
  const id = isCopy(recorded, workspace.root) ? deriveId(recorded, workspace.root) : recorded.repo_id;
  const now = toIdentity(workspace, id);
  const isSame = now.repo_id === recorded.repo_id && now.root === recorded.root;
  if (!isSame || now.common_dir !== recorded.common_dir) writeDurably(placeOf(workspace), format(now), 0o600);
  return now;
}

/**
 * Whoever only looks says who this folder is as well: nobody can tell a copy from a moved folder once the first one is gone.
 * Where nothing may be written, a copy has no identity.
 */
function settleWhereItMay(workspace: Workspace, random: Random, recorded: Recorded): RepoIdentity | null {
  try {
    return settle(workspace, random);
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "FOLDER_READ_ONLY") throw thrown;
    return isCopy(recorded, workspace.root) ? null : toIdentity(workspace, recorded.repo_id);
  }
}

function toIdentity({ root, workTree }: Workspace, repo_id: string): RepoIdentity {
  return { repo_id, root, common_dir: workTree === null ? null : findCommonDir(workTree) };
}

/** Whether the folder an id was recorded for is another one and still has it. */
function isCopy({ repo_id, root }: Recorded, here: string): boolean {
  return root !== here && livesAt(repo_id, root, here);
}

/** Whether a repository with this id is at a root that is not `here`. */
function livesAt(repo_id: string, root: string, here: string): boolean {
  const place = resolveReal(root);
  if (place === null || place === here) return false;
  return readRecorded(toWorkspace(place, true, null))?.repo_id === repo_id;
}

function resolveReal(root: string): string | null {
  try {
    return realpathSync(root);
  } catch (thrown) {
    if (isAbsence(thrown)) return null;
    throw refuse(root, "the folder that the id was recorded for cannot be read", thrown);
  }
}

// Every process that opens the same copy at once derives the same id, so none can overwrite another's with its own.
function deriveId({ repo_id, file }: Recorded, root: string): string {
  return nodeCrypto.sha256(formatCanonical({ copied_from: repo_id, file, root })).slice(0, 32);
}

function placeOf({ state }: Workspace): string {
  return join(state, FILE);
}

function format({ repo_id, root, common_dir }: RepoIdentity): Uint8Array {
  return new TextEncoder().encode(`${formatCanonical({ schema_version: VERSION, repo_id, root, common_dir })}\n`);
}

/** Puts the file there whole unless someone was faster; says whether it did. */
function create(workspace: Workspace, identity: RepoIdentity): boolean {
  const place = placeOf(workspace);
  const temporary = `${place}.${identity.repo_id}`;
  try {
    writeDurably(temporary, format(identity), 0o600);
    claim(temporary, place);
    syncFolder(workspace.state);
    return true;
  } catch (thrown) {
    if (errnoCode(thrown) === "EEXIST") return false;
    throw toDiskError(thrown, place);
  } finally {
    rmSync(temporary, { force: true });
  }
}

// A link appears whole; where the file system has none, a copy that must not exist is the next best.
function claim(temporary: string, place: string): void {
  try {
    linkSync(temporary, place);
  } catch (thrown) {
    if (!["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"].includes(errnoCode(thrown) ?? "")) throw thrown;
    copyFileSync(temporary, place, constants.COPYFILE_EXCL);
  }
}

function readRecorded(workspace: Workspace): Recorded | null {
  const place = placeOf(workspace);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const read = readOnce(place);
    if (read !== "replaced") return read;
  }
  throw refuse(place, "it does not stand still");
}

/** What the file says, unless somebody put another one in its place while it was read. */
function readOnce(place: string): Recorded | null | "replaced" {
  let descriptor: number;
  try {
    descriptor = openSync(place, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (thrown) {
    if (isAbsence(thrown)) return null;
    throw refuse(place, errnoCode(thrown) === "ELOOP" ? "it is a link" : "it cannot be opened", thrown);
  }
  try {
    const facts = fstatSync(descriptor, { bigint: true });
    if (!facts.isFile()) throw refuse(place, "it is not a regular file");
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    if (length > MOST_BYTES) throw refuse(place, `it is larger than ${MOST_BYTES} bytes`);
    // A file that loses its name gets another time of change, and whoever read that would derive another id.
    const after = fstatSync(descriptor, { bigint: true });
    if (after.nlink === 0n || after.ctimeNs !== facts.ctimeNs) return "replaced";
    const file = `${facts.ino}-${facts.birthtimeNs}-${facts.ctimeNs}`;
    return { ...parseIdentity(bytes.subarray(0, length), place), file };
  } finally {
    closeSync(descriptor);
  }
}

function parseIdentity(bytes: Uint8Array, place: string): RepoIdentity {
  const value = parseOrRefuse(bytes, place);
  if (!isJsonObject(value) || value["schema_version"] !== VERSION) throw refuse(place, `it is not ${VERSION}`);
  const { repo_id, root, common_dir } = value;
  if (typeof repo_id !== "string" || !ID.test(repo_id)) throw refuse(place, "repo_id is not 32 hex digits");
  if (typeof root !== "string" || root === "" || root.includes("\0")) throw refuse(place, "root is not a path");
  if (common_dir !== null && typeof common_dir !== "string") throw refuse(place, "common_dir is not a path");
  return { repo_id, root, common_dir };
}

function parseOrRefuse(bytes: Uint8Array, place: string) {
  try {
    return parseJson(bytes, { file: FILE });
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    throw refuse(place, `it is not JSON: ${thrown.message}`, thrown);
  }
}

function refuse(where: string, why: string, cause?: unknown): VerbatimError {
  return new VerbatimError("REPO_ID_INVALID", {
    message: `the identity of the repository cannot be read: ${why}`,
    where,
    ...(cause === undefined ? {} : { cause }),
  });
}
