import { readdirSync, readFileSync } from "node:fs";
import { errnoCode } from "../disk/errors.ts";

/** The processes whose parent is the given one, as /proc shows them. */
export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT" || errnoCode(thrown) === "ESRCH") return null;
    throw thrown;
  }
}
