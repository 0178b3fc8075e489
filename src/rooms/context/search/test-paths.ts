/** Folders whose files test something, at any depth. */
const FOLDERS: ReadonlySet<string> = new Set([
  "test",
  "tests",
  "testing",
  "__tests__",
  "__mocks__",
  "__snapshots__",
  "spec",
  "specs",
  "fixtures",
  "testdata",
  "e2e",
]);

/** Names of such files, wherever they are: those of the test runners of the common languages. */
const NAMES = [
  /\.(?:test|tests|spec|e2e|bench)\.[^.]+$/,
  /_(?:test|spec)\.[^.]+$/,
  /^test_[^/]*\.py$/,
  /^conftest\.py$/,
  /(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|groovy|cs|php|swift)$/,
  /\.snap$/,
] as const;

/** Whether a path is one of tests, which are listed after everything else. */
export function isTestPath(path: string): boolean {
  const parts = path.split("/");
  const name = parts.pop()!;
  return parts.some((part) => FOLDERS.has(part.toLowerCase())) || NAMES.some((pattern) => pattern.test(name));
}
