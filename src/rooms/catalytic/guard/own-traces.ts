import { isInside } from "../declare/path-rules.ts";
import type { Violation } from "../verify/verdict.ts";

const OBJECTS = /(?:^|\/)\.git\/(?:.+\/)?objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.pack)$/;

/** Whether a change of the real tree during a run was made by keeping its record or by asking git, not by someone else. */
export function isOwnTrace({ path, fields = [] }: Violation, runsRoot: string): boolean {
  return (isInside(path, runsRoot) && isLinkTrace(fields)) || (OBJECTS.test(path) && isTimeOnly(fields));
}

/** Equal records of two runs are one file with two names: the second name shows in the first one's link count. */
function isLinkTrace(fields: readonly string[]): boolean {
  return fields.includes("nlink") && fields.every((field) => field === "nlink" || field === "ctime_ns");
}

/** git sets the time of an object, or of the pack around it, that it meets again, also when we ask it for the tree. */
function isTimeOnly(fields: readonly string[]): boolean {
  return fields.length > 0 && fields.every((field) => field === "ctime_ns" || field === "mtime_ns");
}
