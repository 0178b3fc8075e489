import { spawnSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { gitEnvironment } from "./git-process.ts";

/** Users whose files may decide: the one at work, root, and who became root with sudo. Empty where there are no owners. */
export function trustedUsers(): ReadonlySet<number> {
  const own = process.getuid?.();
  if (own === undefined) return new Set();
  const sudo = own === 0 ? Number.parseInt(process.env["SUDO_UID"] ?? "", 10) : Number.NaN;
  return new Set(Number.isNaN(sudo) ? [own, 0] : [own, 0, sudo]);
}

/** Whether someone else put a place there. A link counts as its own owner's, wherever it leads. */
export function isForeign(place: string, users: ReadonlySet<number>): boolean {
  if (users.size === 0) return false;
  const facts = lstatSync(place, { throwIfNoEntry: false });
  return facts !== undefined && !users.has(facts.uid);
}

/** Whether git works in a repository of someone else, which it does where its safe.directory names it. */
export function isTrustedRepository(top: string, users: ReadonlySet<number>): boolean {
  if (!isForeign(join(top, ".git"), users) && !isForeign(top, users)) return true;
  const { status } = spawnSync("git", ["rev-parse", "--git-dir"], { cwd: top, env: gitEnvironment(), stdio: "ignore" });
  return status === 0;
}
