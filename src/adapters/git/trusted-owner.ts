import { spawnSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { VerbatimError } from "../../core/errors/index.ts";
import { showPath } from "../../core/paths/index.ts";
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

const DISTRUST = /detected dubious ownership in repository at '(.+)'/;

/** What to say where git refused to work because the repository belongs to someone else; undefined for other refusals. */
export function explainDistrust(stderr: string): ConstructorParameters<typeof VerbatimError>[1] {
  const top = DISTRUST.exec(stderr)?.[1];
  if (top === undefined) return undefined;
  const fix = `If you trust it: git config --global --add safe.directory ${showPath(top)}`;
  return {
    message: "git does not work in this repository, because it belongs to another user",
    fix: { cli: fix, mcp: "Ask the user to add the folder to git's safe.directory, if they trust it.", http: fix },
  };
}
