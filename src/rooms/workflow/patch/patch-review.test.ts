import { expect, it } from "vitest";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { formatPatchReview } from "./patch-review.ts";

const PATCH = encodeUtf8("first\nsecond\nthird\n");
const review = (parts: object): string[] =>
  formatPatchReview({ stage: "scope", code: "PATCH_SCOPE", rule: "r", ...parts } as never, PATCH, "ab").split("\n");

it("a review of a rejected patch says where it stumbled, and over what", () => {
  const text = review({ line: 2, path: "src/a.js" });
  expect(text.slice(0, 6)).toEqual([
    "# Patch rejected",
    "",
    "Patch-SHA256: ab",
    "Stage: scope",
    "Code: PATCH_SCOPE",
    "Rule: r",
  ]);
  expect(text).toEqual(expect.arrayContaining(["Where: artifacts/diff.patch:2", "Path: src/a.js", "    second"]));
  expect(text.slice(-4)).toEqual(["What to change:", "", "- Write the section as git diff would.", ""]);
});

it("a review says nothing of lines, findings and git where there is nothing to say", () => {
  for (const parts of [{}, { findings: [], stderr: "" }]) {
    const text = review(parts).join("\n");
    for (const word of ["Where:", "Path:", "Offending line:", "Findings:", "git says:"]) {
      expect(text).not.toContain(word);
    }
  }
});

it("a review lists every finding, and what git says as it says it", () => {
  const findings = [
    { code: "A", rule: "one", path: "x.js" },
    { code: "B", rule: "two" },
  ];
  const text = review({ findings, stderr: "error: no\nhint: yes" });
  expect(text).toEqual(expect.arrayContaining(["Findings:", "- A one x.js", "- B two"]));
  expect(text).toEqual(expect.arrayContaining(["git says:", "    error: no", "    hint: yes"]));
});
