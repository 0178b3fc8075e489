import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { VerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";

/** Where a path that a client named actually is. */
export interface NamedPlace {
  /** Absolute, links of its existing part followed. */
  readonly real: string;
  /** Relative to the root with forward slashes, `.` for the root itself; null outside it. */
  readonly inside: string | null;
}

/**
 * Finds where a named path leads. For what does not exist the nearest existing ancestor decides; a link that leads
 * nowhere is followed by its text, because writing through it would create its target.
 */
export function locatePlace(root: string, cwd: string, named: string): NamedPlace {
  const real = follow(cwd, named);
  const realRoot = realpathSync(root);
  const path = relative(realRoot, real);
  const isOutside = path === ".." || path.startsWith(`..${sep}`) || resolve(path) === path;
  return { real, inside: isOutside ? null : path === "" ? "." : path.split(sep).join("/") };
}

function follow(cwd: string, named: string): string {
  try {
    return toReal(resolve(cwd, named), 0);
  } catch (thrown) {
    const code = errnoCode(thrown) ?? "";
    if (!NO_PATH.includes(code)) throw thrown;
    const message = `${JSON.stringify(named.slice(0, SHOWN))} cannot be a path here (${code})`;
    throw new VerbatimError("HOOK_INPUT_INVALID", { message, where: "/tool_input", cause: thrown });
  }
}

/** What the system says to a text that is not a path: it contains U+0000, is too long, or its links go round. */
const NO_PATH = ["ERR_INVALID_ARG_VALUE", "ENAMETOOLONG", "ELOOP"];
const SHOWN = 100;
const MOST_LINKS = 40;

function toReal(place: string, links: number): string {
  const facts = lstatSync(place, { throwIfNoEntry: false });
  if (facts === undefined) return join(toReal(dirname(place), links), basename(place));
  if (!facts.isSymbolicLink() || links >= MOST_LINKS) return realpathSync(place);
  return readThrough(place, links);
}

function readThrough(place: string, links: number): string {
  try {
    return realpathSync(place);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
  }
  return toReal(resolve(dirname(place), readlinkSync(place)), links + 1);
}
