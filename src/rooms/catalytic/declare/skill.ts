import { FINDINGS, type Finding, VerbatimError } from "../../../core/errors/index.ts";

/** What a skill may do to files. */
type SkillMode = "read_only" | "catalytic" | "writer";

export interface SkillFacts {
  /** Text of SKILL.md, or null when there is none. */
  readonly skill_md: string | null;
  readonly jobspec_declaration: SkillMode | null;
  readonly has_domains: boolean;
  readonly has_outputs: boolean;
  readonly writer_skills?: "warn" | "deny";
}

export interface SkillVerdict {
  readonly ok: boolean;
  readonly mode: SkillMode | null;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const MODES: readonly SkillMode[] = ["read_only", "catalytic", "writer"];

/**
 * Judges the declaration of a skill (CMP-01, Skill Execution). An undeclared skill is refused, not assumed harmless.
 *
 * @example
 * const facts = { skill_md: null, jobspec_declaration: null, has_domains: false, has_outputs: false };
 * checkSkill(facts).errors; // => ["SKILL_MANIFEST_MISSING"]
 */
export function checkSkill(facts: SkillFacts): SkillVerdict {
  const refuse = (code: string): SkillVerdict => ({ ok: false, mode: null, errors: [code], warnings: [] });
  const declared = new Set<SkillMode>();
  if (facts.skill_md !== null) {
    const found = readDeclarations(facts.skill_md);
    if (typeof found === "string") return refuse(found);
    for (const mode of found) declared.add(mode);
  } else if (facts.jobspec_declaration === null) return refuse("SKILL_MANIFEST_MISSING");
  if (facts.jobspec_declaration !== null) declared.add(facts.jobspec_declaration);
  const [mode, ...more] = declared;
  if (mode === undefined) return refuse("SKILL_DECLARATION_MISSING");
  if (more.length > 0) return refuse("SKILL_DECLARATION_CONFLICT");
  if (mode === "read_only" && (facts.has_domains || facts.has_outputs)) return refuse("SKILL_READ_ONLY_HAS_DOMAINS");
  if (mode === "catalytic" && !facts.has_domains) return refuse("SKILL_JOBSPEC_REQUIRED");
  if (mode === "writer" && facts.writer_skills === "deny") return refuse("SKILL_WRITER");
  return { ok: true, mode, errors: [], warnings: mode === "writer" ? ["SKILL_WRITER"] : [] };
}

/** The modes the front matter declares true, or the code of what is wrong with it. */
function readDeclarations(text: string): SkillMode[] | string {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const end = lines.indexOf("---", 1);
  if (lines[0] !== "---" || end === -1) return "SKILL_MANIFEST_UNREADABLE";
  const values = new Map<SkillMode, boolean>();
  for (const line of lines.slice(1, end)) {
    const mode = MODES.find((one) => line.startsWith(`${one}:`));
    if (mode === undefined) continue;
    const value = /^ +(true|false)[ \t]*(?:[ \t]#.*)?$/.exec(line.slice(mode.length + 1))?.[1];
    if (value === undefined || values.has(mode)) return "SKILL_DECLARATION_INVALID";
    values.set(mode, value === "true");
  }
  return MODES.filter((mode) => values.get(mode) === true);
}

/** SKILL_REFUSED with what is wrong with the declaration. A JobSpec may speak for a skill that has no folder. */
export function refuseSkill(skill: string | null, errors: readonly string[]): VerbatimError {
  const problems = errors.map((code) => ({
    code,
    pointer: "",
    message: FINDINGS.catalytic[code as Finding<"catalytic">],
  }));
  return new VerbatimError("SKILL_REFUSED", {
    message: `the skill${skill === null ? "" : ` ${skill}`} is refused: ${errors.join(", ")}`,
    where: skill === null ? "/skill" : `${skill}/SKILL.md`,
    details: { errors, problems },
  });
}
