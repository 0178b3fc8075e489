import { describe, expect, it } from "vitest";
import { checkSkill, refuseSkill, type SkillFacts } from "./skill.ts";

const facts: SkillFacts = { skill_md: null, jobspec_declaration: null, has_domains: false, has_outputs: false };
const md = (...lines: string[]) => `---\n${lines.join("\n")}\n---\n# A skill\n`;
const check = (more: Partial<SkillFacts>) => {
  const { ok, mode, errors, warnings } = checkSkill({ ...facts, ...more });
  return ok ? [mode, ...warnings] : [mode, ...errors];
};

describe("a skill", () => {
  it.each<[string, Partial<SkillFacts>, (string | null)[]]>([
    ["read-only", { skill_md: md("name: x", "read_only: true") }, ["read_only"]],
    ["catalytic", { skill_md: md("catalytic: true"), has_domains: true }, ["catalytic"]],
    ["a writer, with a warning", { skill_md: md("writer: true") }, ["writer", "SKILL_WRITER"]],
    ["declared by the JobSpec alone", { jobspec_declaration: "read_only" }, ["read_only"]],
    [
      "declared twice in the same way",
      { skill_md: md("read_only: true"), jobspec_declaration: "read_only" },
      ["read_only"],
    ],
    [
      "with the others declared false",
      { skill_md: md("read_only: true", "writer: false", "catalytic: false") },
      ["read_only"],
    ],
    ["with a comment and spaces", { skill_md: md("read_only:   true \t # yes") }, ["read_only"]],
    [
      "with a mark and Windows lines",
      { skill_md: `\ufeff${md("read_only: true").replaceAll("\n", "\r\n")}` },
      ["read_only"],
    ],
    [
      "a writer where that is only warned of",
      { skill_md: md("writer: true"), writer_skills: "warn" },
      ["writer", "SKILL_WRITER"],
    ],
    ["a writer that has outputs", { skill_md: md("writer: true"), has_outputs: true }, ["writer", "SKILL_WRITER"]],
  ])("is taken for what it says: %s", (_, more, expected) => {
    expect(check(more)).toEqual(expected);
  });

  it.each<[string, Partial<SkillFacts>, string]>([
    ["nothing says what it is", {}, "SKILL_MANIFEST_MISSING"],
    ["SKILL.md says nothing", { skill_md: md("name: x") }, "SKILL_DECLARATION_MISSING"],
    ["SKILL.md says only what it is not", { skill_md: md("writer: false") }, "SKILL_DECLARATION_MISSING"],
    ["SKILL.md has no front matter", { skill_md: "read_only: true\n" }, "SKILL_MANIFEST_UNREADABLE"],
    [
      "the front matter does not begin at once",
      { skill_md: `\n${md("read_only: true")}` },
      "SKILL_MANIFEST_UNREADABLE",
    ],
    ["the front matter does not end", { skill_md: "---\nread_only: true\n" }, "SKILL_MANIFEST_UNREADABLE"],
    ["SKILL.md is empty", { skill_md: "" }, "SKILL_MANIFEST_UNREADABLE"],
    [
      "it says so behind the front matter",
      { skill_md: `${md("name: x")}read_only: true\n` },
      "SKILL_DECLARATION_MISSING",
    ],
    ["it says yes", { skill_md: md("read_only: yes") }, "SKILL_DECLARATION_INVALID"],
    ["it says so without a space", { skill_md: md("read_only:true") }, "SKILL_DECLARATION_INVALID"],
    ["it says so twice", { skill_md: md("read_only: true", "read_only: true") }, "SKILL_DECLARATION_INVALID"],
    ["it says two things", { skill_md: md("read_only: true", "writer: true") }, "SKILL_DECLARATION_CONFLICT"],
    [
      "the JobSpec says another",
      { skill_md: md("read_only: true"), jobspec_declaration: "writer" },
      "SKILL_DECLARATION_CONFLICT",
    ],
    [
      "it is read-only and has a domain",
      { skill_md: md("read_only: true"), has_domains: true },
      "SKILL_READ_ONLY_HAS_DOMAINS",
    ],
    [
      "it is read-only and has an output",
      { skill_md: md("read_only: true"), has_outputs: true },
      "SKILL_READ_ONLY_HAS_DOMAINS",
    ],
    [
      "it is catalytic and has no domain",
      { skill_md: md("catalytic: true"), has_outputs: true },
      "SKILL_JOBSPEC_REQUIRED",
    ],
    ["writers are not wanted", { skill_md: md("writer: true"), writer_skills: "deny" }, "SKILL_WRITER"],
  ])("is refused when %s", (_, more, code) => {
    expect(check(more)).toEqual([null, code]);
  });

  it("that is refused is named with its folder, where it has one", () => {
    expect(refuseSkill("skills/x", ["SKILL_WRITER"])).toMatchObject({
      code: "SKILL_REFUSED",
      message: "the skill skills/x is refused: SKILL_WRITER",
      where: "skills/x/SKILL.md",
      details: { errors: ["SKILL_WRITER"], problems: [{ code: "SKILL_WRITER", pointer: "" }] },
    });
    expect(refuseSkill(null, ["A", "B"])).toMatchObject({ message: "the skill is refused: A, B", where: "/skill" });
  });
});
