import type { Output } from "../../../app/operations.ts";
import { count, showLine } from "../../../core/text/index.ts";
import { defineVerb, type Noun } from "../verb.ts";

const MOST = 20;

const RULES = {
  configuration: "as context.sources names them",
  contract: "the folders of the Catalytic Chat Contract (LAW, SKILLS, ...), because the configuration names no sources",
  git: "the text files that git tracks, because the configuration names no sources",
} as const;

const NONE = "none: the folder is not a git repository, and the configuration names no sources";

/** What is said of so many files of a reason, where its own word says too little. */
const LEFT_OUT: Readonly<Record<string, readonly [one: string, many: string]>> = {
  large: ["too large", "too large"],
  link: ["link", "links"],
  lock: ["lock file", "lock files"],
  name: ["with a name that no address can have", "with names that no address can have"],
  secret: ["that may be secret", "that may be secret"],
};

type Built = Output<"context.index-build">;

/** Which rule chose the sources, and what it left out. */
function describeSources({ sources, files }: Pick<Built, "sources" | "files">): string {
  if (hasNoRule({ sources, files })) return NONE;
  const { rule, left_out } = sources;
  const counts = Object.entries(left_out).map(
    ([reason, many]) => `${many} ${LEFT_OUT[reason]?.[many === 1 ? 0 : 1] ?? reason}`,
  );
  return `${RULES[rule]}${counts.length === 0 ? "" : `; left out: ${counts.join(", ")}`}`;
}

/** Nobody named the folders of the contract, so it says nothing that they are not there. */
function hasNoRule({ sources, files }: Pick<Built, "sources" | "files">): boolean {
  return sources.rule === "contract" && files === 0;
}

/** What is not cut into sections though it was asked for. */
function* describeOutline({ missing, unparsed }: Built["outline"]): Iterable<string> {
  if (missing !== null) yield `files of code are one section each: the grammars cannot be used (${missing})`;
  for (const { file_path, code } of unparsed.slice(0, MOST)) yield `${showLine(file_path)} is one section (${code})`;
  if (unparsed.length > MOST) yield `and ${unparsed.length - MOST} more files of code are one section each`;
}

const build = defineVerb("context.index-build", {
  path: ["build"],
  examples: ["verbatim index build", "verbatim index build --full"],
  render(built, io) {
    const { added, modified, removed } = built.changed;
    io.line(
      `${io.paint.good("indexed")} ${count(built.files, "file")}, ${count(built.sections, "section")} (${built.mode}: ${added} added, ${modified} changed, ${removed} removed)`,
    );
    io.line(`index ${built.index_hash}`);
    // Who named the sources knows which they are.
    if (built.sources.rule !== "configuration") io.line(`sources ${describeSources(built)}`);
    for (const note of describeOutline(built.outline)) io.line(`${io.paint.warn("note")} ${note}`);
    for (const glob of hasNoRule(built) ? [] : built.empty_globs)
      io.line(`${io.paint.warn("note")} no file matches ${showLine(glob)}`);
    for (const path of built.skipped_links)
      io.line(`${io.paint.warn("note")} the folder link ${showLine(path)} was not followed`);
    if (built.files === 0)
      io.line(`next: ${io.paint.bold("verbatim init")} proposes sources; in a git repository none need to be named`);
    else io.line(`next: ${io.paint.bold("verbatim section list")} or ${io.paint.bold('verbatim search "words"')}`);
  },
});

const verify = defineVerb("context.index-verify", {
  path: ["verify"],
  examples: ["verbatim index verify"],
  render(verdict, io) {
    for (const [word, paths] of [
      ["added", verdict.added],
      ["removed", verdict.removed],
      ["changed", verdict.changed],
    ] as const) {
      for (const path of paths.slice(0, MOST)) io.line(`${word.padEnd(8)} ${showLine(path)}`);
      if (paths.length > MOST) io.line(`${word.padEnd(8)} and ${paths.length - MOST} more`);
    }
    io.line(
      verdict.ok
        ? `${io.paint.good("verified")} index ${verdict.index_hash}`
        : `${io.paint.bad("different")} index ${verdict.index_hash}, files ${verdict.actual_hash}; verbatim index build`,
    );
  },
  exit: ({ ok }) => (ok ? 0 : 1),
});

export const noun: Noun = {
  verbs: [
    build,
    verify,
    defineVerb("context.index-status", {
      path: ["status"],
      examples: ["verbatim index status"],
      render(status, io) {
        io.line(`index    ${status.index_hash}`);
        io.line(`built    ${status.built_at} (${Math.round(status.age_ms / 1000)} s ago)`);
        io.line(`holds    ${count(status.files, "file")}, ${count(status.sections, "section")}`);
        io.line(`sources  ${describeSources(status)}`);
        io.line(
          `outline  ${status.outline.kind}${status.outline.grammars === null ? "" : ` (${status.outline.grammars})`}`,
        );
        for (const note of describeOutline(status.outline)) io.line(`         ${note}`);
        io.line(
          `stale    ${status.stale.length === 0 ? "nothing" : `${count(status.stale.length, "file")}; verbatim index build`}`,
        );
        for (const path of status.stale.slice(0, MOST)) io.line(`         ${showLine(path)}`);
        if (status.stale.length > MOST) io.line(`         and ${status.stale.length - MOST} more`);
        for (const { symbol_id, code } of status.symbol_problems)
          io.line(`symbol   ${symbol_id} ${io.paint.warn(code)}`);
      },
    }),
    defineVerb("context.index-explain", {
      path: ["explain"],
      args: [{ field: "path", label: "PATH" }],
      examples: ["verbatim index explain docs/guide.md"],
      render(explained, io) {
        io.line(
          `${showLine(explained.file_path)} ${explained.source ? io.paint.good("is a source") : io.paint.warn("is not a source")}`,
        );
        for (const glob of explained.sources) io.line(`  selected by ${glob}`);
        if (explained.tracked === true) io.line("  git tracks it, and the configuration names no sources");
        else if (explained.tracked === false)
          io.line("  git does not track it, and the configuration names no sources");
        else if (explained.sources.length === 0) io.line("  no glob in context.sources matches it");
        if (explained.left_out !== null) io.line(`  left out: ${explained.left_out}`);
        for (const glob of explained.exclude) io.line(`  left out by ${glob}`);
        if (explained.problem !== null) io.line(`  problem: ${io.paint.bad(explained.problem)}`);
      },
    }),
    defineVerb("context.index-export", {
      path: ["export"],
      lines: "unless-out",
      examples: ["verbatim index export > SECTION_INDEX.jsonl", "verbatim index export --out SECTION_INDEX.jsonl"],
      render(done, io) {
        io.line(
          `${io.paint.good("written")} ${done.path}: ${count(done.sections, "section")}, index ${done.index_hash}`,
        );
      },
    }),
  ],
};
