import { existsSync, lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { sortedUnique } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";
import type { CatalyticPorts } from "../../../rooms/catalytic/index.ts";
import type { AgentPorts } from "../ports.ts";
import type { AgentRequest } from "../request/request.ts";

/** Folders of which a command has one of its own. */
const TEMPORARY = ["/tmp", "/var/tmp"];

/** What somebody names with --see, absolutely. USAGE, FILE_NOT_FOUND. */
export function toSeen(outside: AgentPorts, given: readonly string[]): string[] {
  return given.map((text) => {
    const named = resolve(outside.start, text.startsWith("~/") ? join(homedir(), text.slice(2)) : text);
    // A link may lead to what is hidden.
    const place = existsSync(named) ? realpathSync(named) : named;
    if (!isTemporary(place) || isHidden(outside, place)) {
      const why = isTemporary(place)
        ? "belongs to Verbatim and is never shown"
        : "is not below /tmp or /var/tmp, so the agent sees it unless it is hidden";
      throw new VerbatimError("USAGE", {
        message: { cli: `--see ${showPath(place)} ${why}`, others: `${showPath(place)} ${why}` },
        fix: { cli: "Leave the flag out. A hidden file is shown with --unmask.", others: "Leave it out." },
      });
    }
    if (existsSync(place)) return place;
    throw new VerbatimError("FILE_NOT_FOUND", {
      message: { cli: `--see ${showPath(place)} does not exist`, others: `${showPath(place)} does not exist` },
      where: place,
    });
  });
}

/** What an agent sees below temporary folders: what was named, and files among the words of its command. */
export function listSeen(outside: AgentPorts, { see, command }: Pick<AgentRequest, "see" | "command">): string[] {
  const words = command.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)]);
  const files = words
    .filter((word) => word.startsWith("/"))
    .map((word) => resolve(word))
    .filter((place) => isTemporary(place) && !isHidden(outside, place) && isFile(place));
  const root = outside.places().root;
  return sortedUnique([...see, ...files]).filter((place) => !place.startsWith(`${root}/`));
}

/** The same for the view, with the repository of a linked work tree: it may commit there, and nothing of that stays. */
export function seeElsewhere(
  outside: AgentPorts,
  request: Pick<AgentRequest, "see" | "command">,
  root: string,
): { readonly visible: string[]; readonly discard: string[] } {
  const { git } = outside.catalytic();
  return {
    visible: [...listSeen(outside, request), ...seeGit(git, outside.hiddenPlaces(), root)],
    discard: [...git.outsideRoot(root)],
  };
}

/** Where a repository has more of itself than its tree: without that git does not work in a view. */
export function seeGit(git: CatalyticPorts["git"], hidden: readonly string[], root: string): string[] {
  // Elsewhere they are seen anyway, and what is hidden stays hidden whatever a repository says.
  const borrowed = git.borrowed(root).filter((place) => isTemporary(place) && !hidden.some((one) => isAt(place, one)));
  return [...git.outsideRoot(root), ...borrowed];
}

function isTemporary(place: string): boolean {
  return TEMPORARY.some((folder) => place.startsWith(`${folder}/`));
}

function isHidden(outside: AgentPorts, place: string): boolean {
  return outside.hiddenPlaces().some((hidden) => isAt(place, hidden));
}

function isAt(place: string, folder: string): boolean {
  return place === folder || place.startsWith(`${folder}/`);
}

function isFile(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isFile() === true && realpathSync(place) === place;
}
