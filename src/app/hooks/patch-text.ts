import { VerbatimError } from "../../core/errors/index.ts";

const FILE_LINE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/;
const MOVE_LINE = /^\*\*\* Move to: (.+)$/;

/** The paths a patch of the apply_patch tool names, both sides of a move included. Cost: one pass. */
export function listPatchedPaths(text: string): string[] {
  const paths: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const name = FILE_LINE.exec(line)?.[1] ?? MOVE_LINE.exec(line)?.[1];
    if (name !== undefined) paths.push(name.trim());
  }
  if (paths.length > 0) return paths;
  throw new VerbatimError("HOOK_INPUT_INVALID", {
    message: "the patch names no file",
    where: "/tool_input",
  });
}
