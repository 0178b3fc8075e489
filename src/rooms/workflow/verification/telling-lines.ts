/** The marks of test runners at what failed. */
const MARKS = [/^\s*not ok \d/, /^\s*(?:--- )?FAIL(?:ED)?\b/, /^\s*[✖✗✕×●] /, /^E {2,}\S/, /\bpanicked at /];
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
  for (const signs of [MARKS, ERRORS]) {
    const first = all.findIndex((line) => !PASSED.test(line) && signs.some((sign) => sign.test(line)));
    if (first !== -1) return all.slice(first, first + most);
  }
  return all.slice(-most);
}
