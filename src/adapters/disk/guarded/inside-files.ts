import { VerbatimError } from "../../../core/errors/index.ts";
import { parseRepoPath } from "../../../core/paths/index.ts";
import type { LocalFiles } from "../../../core/ports.ts";
import { resolveInside } from "./inside-root.ts";
import { createLocalFiles } from "./local-files.ts";

/** Files for callers that are not at this machine: inside one folder, to read only, no standard input. */
export function createInsideFiles(root: string): LocalFiles {
  const files = createLocalFiles(root, noInput());
  return {
    read: async (path, maxBytes) => files.read(resolveInside(root, parseRepoPath(path)), maxBytes),
    create: async (path) => refuseWriting(path),
    replace: async (path) => refuseWriting(path),
  };
}

function refuseWriting(path: string): never {
  throw new VerbatimError("INPUT_INVALID", {
    message: "only local callers can write files",
    where: path,
    fix: "Leave the file out and read the result from the answer.",
  });
}

async function* noInput(): AsyncIterable<Uint8Array> {
  yield new Uint8Array();
}
