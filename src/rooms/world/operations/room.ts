import { z } from "zod";
import { parseJson } from "../../../core/canonical/index.ts";
import { type CaseWords, VerbatimError, wordsAt } from "../../../core/errors/index.ts";
import { LOCAL_SURFACES } from "../../../core/operation.ts";
import { parsePolicy, type SigningKey, type TrustPolicy } from "../../../core/trust/index.ts";
import type { Beats } from "../beat/beats.ts";
import { keptOf, parseState, storyOf } from "../history/state.ts";
import type { WorldPorts, WorldStore } from "./ports.ts";

/** Largest export that is read. */
export const MAX_WORLD_FILE = 1024 * 1024 * 1024;
const MAX_POLICY_FILE = 16 * 1024 * 1024;

/** What the operations of the room run on. */
export interface WorldRoom extends WorldPorts {
  readonly beats: Beats;
  /** World that is meant when none is named. */
  readonly default_world: string | null;
  /** The store for writing, where an operation that reads has to repair something. */
  writable(): Promise<WorldStore>;
  /** A key that can sign, by its name or the path of its file. */
  loadKey(key: string): Promise<SigningKey>;
}

/** The trust policy of a file, for a caller on this machine. */
export async function readPolicy(room: WorldRoom, file: string): Promise<TrustPolicy> {
  requireLocal(room, "trust");
  return parsePolicy(room.crypto, parseJson(await room.files.read(file, MAX_POLICY_FILE), { file }), file);
}

/** Words of an answer for whoever asked. */
export function sayTo(room: WorldRoom, words: string | CaseWords): string {
  return wordsAt(isLocal(room) ? "cli" : "http", words);
}

function isLocal(room: WorldRoom): boolean {
  return LOCAL_SURFACES.some((surface) => surface === room.actor);
}

/** Refuses to touch files for a caller on another machine. */
export function requireLocal(room: WorldRoom, field: string): void {
  if (isLocal(room)) return;
  throw new VerbatimError("USAGE", {
    message: `${field} names a file, which is not allowed through this surface`,
    where: `/${field}`,
  });
}

/** Which world is meant: by id, or by the beginning of its title. */
export const worldField = z
  .string()
  .min(1)
  .optional()
  .describe("World, by id or by the start of its title (default: VERBATIM_WORLD, or the only one).");

export const viewerField = z.string().min(1).optional().describe("Read as this person (default: the operator).");

export const trustField = z
  .string()
  .min(1)
  .optional()
  .describe("Trust policy that says whose signatures of an exported world count.");

export const keyField = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe("Idempotency key: a request with the same key is run only once.");

export const requestIdField = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .describe("Key that makes sure the same request is run only once (default: a new one).");

/** Of each story the world that is kept: versions have its title, and are meant by their id only. */
function keptOnly<R extends Parameters<typeof parseState>[0]>(rows: readonly R[]): R[] {
  const states = new Map(rows.map((row) => [row.world_id, parseState(row)]));
  return rows.filter(({ world_id }) => {
    const root = states.get(storyOf(states.get(world_id)!));
    return root === undefined || keptOf(root) === world_id;
  });
}

/** The id of the world that is meant; WORLD_NOT_FOUND when none or several fit. */
export async function findWorldId(room: WorldRoom, named: string | undefined): Promise<string> {
  const name = named ?? room.default_world;
  // An id is the usual case and needs one row; every other name needs all of them.
  if (name !== null && (await room.store.read(async (tx) => tx.world.find(name))) !== null) return name;
  const rows = keptOnly(await room.store.read((tx) => tx.world.list()));
  if (name === null) {
    const [only, other] = rows;
    if (only !== undefined && other === undefined) return only.world_id;
    throw new VerbatimError("WORLD_NOT_FOUND", {
      ...(only === undefined
        ? {
            message: "there are no worlds yet",
            fix: { cli: "Create one: verbatim world new TITLE", others: "Create one." },
          }
        : {
            message: { cli: "there are several worlds; name one with --world", others: "there are several worlds" },
            fix: { cli: "List them: verbatim world list", others: "Name one of them." },
          }),
    });
  }
  const fitting = rows.filter((row) => parseState(row).settings.title.startsWith(name));
  const [only, other] = fitting;
  if (only !== undefined && other === undefined) return only.world_id;
  if (other === undefined) throw new VerbatimError("WORLD_NOT_FOUND", { where: "world" });
  throw new VerbatimError("WORLD_NOT_FOUND", {
    message: `several titles start like this: ${fitting.map(({ world_id }) => world_id).join(", ")}`,
    where: "world",
    fix: "Name one of them by its id.",
  });
}
