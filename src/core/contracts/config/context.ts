import { z } from "zod";
import { BUDGETS, mapBudgets } from "../../text/index.ts";
import { budgets, repoPath } from "../shapes.ts";

/** Catalytic Chat Contract, Canonical Sources. */
const CANONICAL_SOURCES = [
  "LAW/CANON/*.md",
  "LAW/CONTEXT/**/*.md",
  "SKILLS/**/*.md",
  "TOOLS/**/*.md",
  "CONTRACTS/**/*.md",
  "CORTEX/db/**/*.sql",
] as const;

/** Globs have a syntax and a code of their own (GLOB_SYNTAX), which the room raises. */
const globs = z.array(z.string());

/** Which parts of files are sections: the headings of Markdown, and with the second also what is defined in code. */
export const OUTLINES = ["markdown", "markdown+code"] as const;
export type Outline = (typeof OUTLINES)[number];

export const contextConfig = z.strictObject({
  sources: globs.min(1).optional(),
  exclude: globs.optional(),
  outline: z.enum(OUTLINES).optional(),
  secrets: z.strictObject({ allow: z.array(repoPath).optional() }).optional(),
  max_file_bytes: z.int().min(1).optional(),
  budgets: budgets.optional(),
});

export type ContextConfig = z.infer<typeof contextConfig>;

/** The context room's configuration with every default filled in. */
export function resolveContext(config: ContextConfig = {}) {
  return {
    sources: config.sources ?? [...CANONICAL_SOURCES],
    /** Without sources of its own the tree decides: the canonical ones where there are any, else what git tracks. */
    names_sources: config.sources !== undefined,
    /** Null: as the rule that chooses the sources has it. */
    outline: config.outline ?? (config.sources === undefined ? null : ("markdown" as Outline)),
    exclude: config.exclude ?? ["**/node_modules/**"],
    secrets: { allow: config.secrets?.allow ?? [] },
    max_file_bytes: config.max_file_bytes ?? 33_554_432,
    budgets: config.budgets ?? mapBudgets((name): number => BUDGETS[name].standard),
  };
}

export type ResolvedContext = ReturnType<typeof resolveContext>;
