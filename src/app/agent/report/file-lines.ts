import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isRepoPath, showPath } from "../../../core/paths/index.ts";
import { AgentRecord, type Run } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";

const MOST_LINES = 500;

export const fileLines = z.strictObject({
  path: z.string(),
  side: z.enum(["base", "result"]),
  total: z.int().describe("Lines of the whole file."),
  from: z.int(),
  lines: z.array(z.strictObject({ text: z.string(), no_eol: z.boolean() })),
});

interface LinesRequest {
  readonly candidate?: number | undefined;
  readonly path: string;
  readonly side: "base" | "result";
  readonly from: number;
  readonly to: number;
}

/** Lines of a file as the agent found it or as its change leaves it, from 1. What the change leaves alone is the base. */
export async function readFileLines(
  outside: AgentPorts,
  run: Run,
  { candidate: asked, path, side, from, to }: LinesRequest,
): Promise<z.infer<typeof fileLines>> {
  const record = AgentRecord.load(run);
  const c = asked ?? record?.now.candidate ?? null;
  const candidate = record === null || c === null ? null : record.candidate(c);
  if (candidate === null) throw notThere(path, "the run has no such candidate");
  const changed = candidate.files.filter((file) => file.path === path);
  // An agent may have chosen any name; of the rest only what can be in a tree is looked for.
  if (changed.length === 0 && !isRepoPath(path)) throw notThere(path, "it is not in the repository");
  const left = changed.find(({ sha256 }) => sha256 !== null);
  if (changed.length > 0 && changed.every(({ kind }) => kind !== "text")) throw notThere(path, "it is not text");
  const bytes =
    side === "result" && changed.length > 0
      ? left?.sha256 == null
        ? null
        : await (await outside.content("read")).get(left.sha256)
      : await readBase(run, candidate.base.tree, path);
  if (bytes === null) throw notThere(path, side === "base" ? "it was not there before" : "the change deletes it");
  const lines = splitText(bytes);
  return { path, side, total: lines.length, from, lines: lines.slice(from - 1, Math.min(to, from + MOST_LINES - 1)) };
}

/** Only regular files: where a link leads is shown as a link. */
export async function readBase(run: Run, tree: string, path: string): Promise<Uint8Array | null> {
  const found = (await run.ports.landing.trees.find({ tree, objects: run.objects() }, [path])).get(path);
  return found === undefined || found.mode === "120000" ? null : await found.read();
}

export function splitText(bytes: Uint8Array): { text: string; no_eol: boolean }[] {
  const texts = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\n");
  const rest = texts.pop()!;
  const lines = texts.map((text) => ({ text, no_eol: false }));
  return rest === "" ? lines : [...lines, { text: rest, no_eol: true }];
}

function notThere(path: string, why: string): VerbatimError {
  return new VerbatimError("SELECTION_INVALID", {
    message: `${showPath(path)} cannot be read: ${why}`,
    where: "/path",
  });
}
