import { formatCanonical } from "../../../core/canonical/index.ts";
import type { Outline } from "../../../core/contracts/config/index.ts";
import { CODE_GRAMMARS, type CodeLanguage } from "../ports.ts";
import { SECTION_RULES } from "./sections.ts";

/** Raised whenever a rule changes that decides which sections code has, the version of the grammars included. */
const CODE_RULES = 1;
/** Both numbers are one in the store. */
const CODE_STEP = 1000;

/** How the names of files in a language end. C is read with the grammar of C++. */
const ENDINGS: Readonly<Record<CodeLanguage, readonly string[]>> = {
  "c-sharp": ["cs"],
  cpp: ["c", "c++", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx"],
  go: ["go"],
  java: ["java"],
  javascript: ["cjs", "js", "jsx", "mjs"],
  php: ["php"],
  python: ["py", "pyi"],
  ruby: ["gemspec", "rake", "rb"],
  rust: ["rs"],
  shell: ["bash", "sh"],
  tsx: ["tsx"],
  typescript: ["cts", "mts", "ts"],
};

const LANGUAGES = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) => endings.map((one) => [one, language as CodeLanguage])),
);

/** The language of a file by the end of its name, in any case; null when it is not code that is outlined. */
export function languageOf(file_path: string): CodeLanguage | null {
  const dot = file_path.lastIndexOf(".");
  if (dot <= file_path.lastIndexOf("/") + 1) return null;
  return LANGUAGES.get(file_path.slice(dot + 1).toLowerCase()) ?? null;
}

/** How the sections of an index are made. */
export interface SectionRules {
  readonly outline: Outline;
  /** Whether definitions of code are sections: they are asked for, and the grammars are there. */
  readonly code: boolean;
  /** The number that the store knows these rules by. */
  readonly number: number;
}

/** The rules of an outline; `missing` says why there are no grammars, if so. */
export function sectionRules(outline: Outline, missing: () => string | null): SectionRules {
  const code = outline === "markdown+code" && missing() === null;
  return { outline, code, number: code ? SECTION_RULES + CODE_STEP * CODE_RULES : SECTION_RULES };
}

/**
 * What the hash of an index begins with besides its lines: nothing, or a line that names grammars and rules where code was
 * cut by them. So Markdown alone has the same hash under every outline.
 */
export function sealOf(rules: number, paths: readonly string[]): string {
  if (rules < CODE_STEP || !paths.some((path) => languageOf(path) !== null)) return "";
  const grammars = `${CODE_GRAMMARS.package}@${CODE_GRAMMARS.version}`;
  return `${formatCanonical({ grammars, outline: "markdown+code", rules: Math.floor(rules / CODE_STEP) })}\n`;
}
