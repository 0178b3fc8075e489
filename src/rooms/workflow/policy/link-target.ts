import { isForbiddenName } from "./forbidden-name.ts";

/** Why a link may not land, or null. Judged by its text alone: what it leads to need not be there. */
export function findLinkProblem(path: string, target: string): string | null {
  if (target === "" || target.includes("\0")) return "leads nowhere";
  if (/^(?:\/|\\|[A-Za-z]:)/.test(target)) return `is absolute: ${JSON.stringify(target)}`;
  const names = target.split("/").filter((name) => name !== "" && name !== ".");
  const steps = names.findIndex((name) => name !== "..");
  const back = steps === -1 ? names.length : steps;
  const rest = names.slice(back);
  // Behind a name that is itself a link, `..` is somewhere else than it says.
  if (rest.includes("..")) return `goes back in the middle of ${JSON.stringify(target)}, so it may lead outside`;
  const folder = path.split("/").slice(0, -1);
  if (back > folder.length) return "leads outside the repository";
  const place = [...folder.slice(0, folder.length - back), ...rest];
  if (place.some(isForbiddenName)) return `leads into ${place.find(isForbiddenName)}`;
  return null;
}
