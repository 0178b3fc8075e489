import { NO_SETTINGS, runGit } from "../../../adapters/git/git-process.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { LOCAL_SURFACES } from "../../../core/operation.ts";
import type { RepositoryRow } from "../../../rooms/jobs/index.ts";
import type { Composition } from "../compose.ts";

/** A checkout of something else would change or land what was never made for it. REPOSITORY_MISMATCH. */
export async function requireCheckoutOf(composition: Composition, { roots }: RepositoryRow): Promise<void> {
  const missing = await findMissing(composition, roots);
  if (missing.length > 0) throw new VerbatimError("REPOSITORY_MISMATCH", { details: { roots: [...roots], missing } });
}

/**
 * Whoever writes what all of a team read, from files that lie here, has to have the files of one of its repositories: an unrelated
 * checkout with the same database address would put its own index in the place of theirs.
 */
export async function requireTeamCheckout(composition: Composition): Promise<void> {
  if (composition.databaseUrl() === undefined || !LOCAL_SURFACES.includes(composition.surface)) return;
  const all = await (await composition.store("read")).read(({ team }) => team!.repositories());
  for (const { roots } of all) if ((await findMissing(composition, roots)).length === 0) return;
  const [first] = all;
  if (first !== undefined) await requireCheckoutOf(composition, first);
}

async function findMissing(composition: Composition, roots: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const id of roots) if (!(await hasCommit(composition, id))) missing.push(id);
  return missing;
}

export async function hasCommit(composition: Composition, id: string): Promise<boolean> {
  const { code } = await askGit(composition, ["cat-file", "-e", `${id}^{commit}`]);
  return code === 0;
}

/** Asks git about this checkout, with nobody's settings. */
export function askGit(
  { workspace }: Composition,
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: Buffer }> {
  return runGit({ cwd: workspace.root, args, env: NO_SETTINGS });
}
