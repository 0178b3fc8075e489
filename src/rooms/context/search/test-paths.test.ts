import { expect, it } from "vitest";
import { isTestPath } from "./test-paths.ts";

it.each([
  "test/a.ts",
  "src/__tests__/a.js",
  "packages/x/Tests/a.cs",
  "src/a.test.ts",
  "src/a.spec.jsx",
  "pkg/lamp_test.go",
  "spec/lamp_spec.rb",
  "tests/test_lamp.py",
  "lib/test_lamp.py",
  "conftest.py",
  "src/LampTest.java",
  "src/LampTests.cs",
  "web/e2e/login.ts",
  "src/a.test.ts.snap",
])("%s is a test", (path) => {
  expect(isTestPath(path)).toBe(true);
});

it.each([
  "src/test.ts",
  "docs/testing.md",
  "src/contest/a.ts",
  "src/latest.ts",
  "src/attest_lamp.go",
  "src/protest.py",
  "src/Contest.java",
  "test.md",
  "docs/how-to-test/a.md",
])("%s is not", (path) => {
  expect(isTestPath(path)).toBe(false);
});
