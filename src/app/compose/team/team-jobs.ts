import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Mirror } from "../../../adapters/git/mirror.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Dispatch, RepositoryRow } from "../../../rooms/jobs/index.ts";
import type { Composition } from "../compose.ts";
import type { AppStore } from "../store/store.ts";

/** The store of a team with its queue; a store in a file has neither. */
export function requireQueue(store: AppStore): { readonly dispatch: Dispatch; readonly workspaceId: string } {
  const { dispatch, workspaceId } = store;
  if (dispatch !== null && workspaceId !== null) return { dispatch, workspaceId };
  throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}

/** The repository of this name, or the only one. REPOSITORY_UNKNOWN. */
export function pickRepository(all: readonly RepositoryRow[], name: string | undefined): RepositoryRow {
  const found = name === undefined && all.length === 1 ? all[0] : all.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new VerbatimError("REPOSITORY_UNKNOWN", {
    details: { repository: name ?? null, repositories: all.map((one) => one.name) },
  });
}

/** The mirror of a repository on this machine, up to date, and proved to be that repository. REPOSITORY_MISMATCH. */
export async function openMirror(composition: Composition, repository: RepositoryRow): Promise<Mirror> {
  const mirror = await openUnproved(composition, repository.id, repository.remote);
  await mirror.requireRoots(repository.roots);
  return mirror;
}

/** The same before anybody knows which roots it has. */
export async function openUnproved(composition: Composition, id: string, remote: string): Promise<Mirror> {
  const folder = join(teamState(composition), `${id}.git`);
  mkdirSync(teamState(composition), { recursive: true, mode: 0o700 });
  // A path is a remote only where whoever runs this process says so.
  const allowPath = composition.env["VERBATIM_GIT_PATHS"] === "1";
  const mirror = await Mirror.open(folder, remote, { allowPath });
  await mirror.fetch();
  return mirror;
}

export function teamState({ env, userState }: Composition): string {
  const named = env["VERBATIM_STATE"];
  return join(named === undefined || named === "" ? userState : named, "team");
}
