import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePathPattern } from "./path-pattern.ts";

const matches = (pattern: string, path: string, fold = true) => compilePathPattern(pattern, { fold }).matches(path);

describe("path patterns", () => {
  it.each([
    ["Jenkinsfile", "Jenkinsfile", true],
    ["Jenkinsfile", "ci/Jenkinsfile", true],
    ["Jenkinsfile", "ci/Jenkinsfile/part", true],
    ["Jenkinsfile", "ci/Jenkinsfile2", false],
    ["/Jenkinsfile", "ci/Jenkinsfile", false],
    ["/Jenkinsfile", "Jenkinsfile", true],
    [".circleci/", ".circleci", false],
    [".circleci/", ".circleci/config.yml", true],
    [".circleci/", "part/.circleci/config.yml", true],
    [".github/workflows/", ".github/workflows/ci.yml", true],
    [".github/workflows/", "part/.github/workflows/ci.yml", false],
    [".github/workflows/", ".github/workflows", false],
    [".env.*", ".env.local", true],
    [".env.*", ".env", false],
    ["*.pem", "deep/er/a.pem", true],
    ["*.pem", "a.pem.txt", false],
    ["**/.kube/config", "home/.kube/config", true],
    ["**/.kube/config", "home/.kube/configs", false],
    ["src/**", "src/a/b", true],
    ["src/**", "src", false],
    ["a**b", "axxb", true],
    ["a**b", "ax/xb", false],
    ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
    ["app/[id]/page.tsx", "app/i/page.tsx", false],
    ["!odd", "!odd", true],
    ["?", "\u{1f600}", true],
  ])("%s on %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it.each([[".ENV"], [".env."], [".e\u200dnv"], [".env "], ["sub/.eNv"]])("take %j for .env", (path) => {
    expect(matches(".env", path)).toBe(true);
    expect(matches(".env", path, false)).toBe(false);
  });

  it.each([
    [".hu\u017fky/", ".husky/x"],
    [".husky/", ".hu\u017fky/x"],
    ["caf\u00e9", "cafe\u0301"],
    ["K", "\u212a"],
    ["jenkinsfile", "Jenk\u0131nsfile"],
  ])("%s and its twin %s are one", (pattern, path) => {
    expect(matches(pattern, path)).toBe(true);
  });

  it("answer for every text, and a name always matches itself", () => {
    const name = fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).filter((text) => !/[*?/]/.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.boolean(), (names, fold) => {
        const path = names.join("/");
        expect(matches(path, path, fold)).toBe(true);
        expect(matches(path, `${path}/below`, fold)).toBe(true);
      }),
    );
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => typeof matches(a, b) === "boolean"));
  });
});
