/** The marks of test runners at what failed. */
const MARKS = [/^\s*not ok \d/, /^\s*(?:--- )?FAIL(?:ED)?\b/, /^\s*[✖✗✕×●] /, /^E {2,}\S/, /\bpanicked at /];
/** A linter names the file first, then line and column of what is wrong in it. */
const LINTED = /^\s+\d+:\d+\s+error\b/;
const MOST_BEFORE = 5;
/** A sentence that begins with an error; a test that passes may print one too, so a mark is worth more. */
const ERRORS = [/(?:^|[\s:])\w*[Ee]rror(?:\[\w+\]| TS\d+| \[\w+\])?: /];
/** A test that passed may have any name. */
const PASSED = /^\s*(?:ok \d|PASS\b|# Subtest|[✓✔√] )/;
/** Frame and totals of the Test Anything Protocol, which Node writes into a pipe: the same whatever failed. */
const FRAME =
  /^\s*(?:# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [0-9.]+|1\.\.[0-9]+|---|\.\.\.|duration_ms: [0-9.]+|type: '(?:test|suite)')$/;

/** The lines of an output that say most about a failure: from its first sign on, or the last ones where there is none. */
export function pickTelling(lines: readonly string[], most: number): string[] {
  const own = lines.filter((line) => !FRAME.test(line));
  const all = own.length === 0 ? lines : own;
  for (const signs of [[...MARKS, LINTED], ERRORS]) {
    const first = all.findIndex((line) => !PASSED.test(line) && signs.some((sign) => sign.test(line)));
    if (first !== -1) return all.slice(toFileName(all, first), first + most).slice(0, most);
  }
  return all.slice(-most);
}

/** Where the file that a linter complains about is named, unless that is far away. */
function toFileName(lines: readonly string[], first: number): number {
  if (!LINTED.test(lines[first]!)) return first;
  const file = lines.slice(0, first).findLastIndex((line) => /^\S/.test(line));
  return file === -1 || first - file > MOST_BEFORE ? first : file;
}
