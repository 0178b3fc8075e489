import { z } from "zod";
import { encodeUtf8, formatCanonical, parseJson } from "../../../core/canonical/index.ts";
import { OUTLINES, type Outline, type ResolvedContext } from "../../../core/contracts/config/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import { CODE_GRAMMARS, type ContextReader, type OutlineProblem } from "../ports.ts";
import { languageOf, type SectionRules } from "../sections/code-outline.ts";
import { LEFT_OUT_REASONS } from "../sources/left-out.ts";
import { SOURCE_RULES, type SourceRule, type Survey } from "./index-survey.ts";
import { refuseIndex } from "./index-view.ts";

const count = z.int().min(0);

/** A file of code that is a section as a whole, and why. */
const unparsed = z.strictObject({ file_path: z.string(), code: z.string() });

/** Which rule chose the sources of an index, and how many tracked files were left out for what reason. */
export const sourcesOrigin = z.strictObject({
  rule: z.enum(SOURCE_RULES),
  left_out: z.partialRecord(z.enum(LEFT_OUT_REASONS), count),
});

/** What made the sections of an index; `grammars` is null where no code was cut, `missing` says why not if it was asked for. */
export const outlineOrigin = z.strictObject({
  kind: z.enum(OUTLINES),
  grammars: z.string().nullable(),
  missing: z.string().nullable(),
  unparsed: z.array(unparsed),
});

const originSchema = z.strictObject({ sources: sourcesOrigin, outline: outlineOrigin });

/** How an index came to be; kept with it. */
export type IndexOrigin = z.infer<typeof originSchema>;

/** An index of before this was kept: globs and Markdown. */
const OLDEST: IndexOrigin = {
  sources: { rule: "configuration", left_out: {} },
  outline: { kind: "markdown", grammars: null, missing: null, unparsed: [] },
};

/** The outline that a rule brings along where the configuration names none. */
export function outlineFor(config: ResolvedContext, rule: SourceRule): Outline {
  return config.outline ?? (rule === "git" ? "markdown+code" : "markdown");
}

/** What is kept of how an index was made. `problems` are the files of code without an outline. */
export function toOrigin(
  { rule, left_out, paths }: Survey,
  rules: SectionRules,
  missing: string | null,
  problems: ReadonlyMap<string, OutlineProblem>,
): IndexOrigin {
  const hasCode = rules.outline === "markdown+code" && paths.some((path) => languageOf(path) !== null);
  return {
    sources: { rule, left_out },
    outline: {
      kind: rules.outline,
      grammars: hasCode && rules.code ? `${CODE_GRAMMARS.package}@${CODE_GRAMMARS.version}` : null,
      missing: hasCode && !rules.code ? missing : null,
      unparsed: [...problems].map(([file_path, code]) => ({ file_path, code })),
    },
  };
}

export function encodeOrigin(origin: IndexOrigin): Uint8Array {
  return encodeUtf8(formatCanonical(origin));
}

/** How the stored index was made; STORE_CORRUPT when that cannot be read. */
export async function loadOrigin(context: ContextReader): Promise<IndexOrigin> {
  const bytes = await context.image("origin");
  if (bytes.length === 0) return OLDEST;
  return readOrigin(bytes) ?? refuseIndex("what is stored about the sources is damaged");
}

function readOrigin(bytes: Uint8Array): IndexOrigin | null {
  try {
    return originSchema.safeParse(parseJson(bytes, { file: "origin" })).data ?? null;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return null;
    throw thrown;
  }
}
