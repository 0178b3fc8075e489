import { describe, expect, it } from "vitest";
import { findVerifyCommands, verifyNotConfigured } from "./found-commands.ts";
import { findShellSyntax, parseVerifyCommand } from "./verify-command.ts";

const PROGRAMS = ["npm", "make", "node", "./gradlew", "./node_modules/.bin/vitest"];
const facts = { findProgram: (word: string) => (PROGRAMS.includes(word) ? word : null) };

/** What is thrown, as somebody at a terminal reads it. */
function refusal(work: () => unknown): { code: string; message: string; fix: string } {
  try {
    work();
  } catch (thrown) {
    const { code, message, fix } = thrown as { code: string; message: string; fix: string };
    return { code, message, fix };
  }
  throw new Error("nothing was refused");
}

describe("a verify command", () => {
  it.each([
    ["npm test", ["npm", "test"]],
    ["npm test -- 'a && b' --grep \"it's\"", ["npm", "test", "--", "a && b", "--grep", "it's"]],
    ["./gradlew test", ["./gradlew", "test"]],
    [
      "node -e 'process.exit($?)' \\; a[1] b=c x#y '*'",
      ["node", "-e", "process.exit($?)", ";", "a[1]", "b=c", "x#y", "*"],
    ],
    ["npm test --price=5$ {a,b}", ["npm", "test", "--price=5$", "{a,b}"]],
  ])("is words: %s", (text, argv) => {
    expect(parseVerifyCommand(text, facts).argv).toEqual(argv);
  });

  it("with a bracket after a word gets no advice that a shell would refuse", () => {
    expect(refusal(() => parseVerifyCommand("node -e require('./')", facts)).fix).toBe(
      "Put it into quotes of its own, such as --verify \"node -e 'check(1)'\"",
    );
    expect(refusal(() => parseVerifyCommand("(npm test)", facts)).fix).toBe('--verify-sh "(npm test)"');
  });

  it("is given to a shell when that is what was asked for", () => {
    expect(parseVerifyCommand({ sh: "npm test && npm run lint" }, facts)).toEqual({
      argv: ["/bin/sh", "-c", "npm test && npm run lint"],
      cmd: "npm test && npm run lint",
    });
  });

  it.each([
    ["npm test | tee log", "|"],
    ["npm test; npm run lint", ";"],
    ["npm test || true", "||"],
    ["npm test &", "&"],
    ["npm test > log", ">"],
    ["npm test 2>&1", "2>"],
    ["npm test < in", "<"],
    ["CI=1 npm test", "CI=1"],
    ["cd web", "cd"],
    ["! npm test", "!"],
    ["npm test $FILES", "$FILES"],
    ['npm test "$HOME/x"', "$HOME"],
    ['npm test "$\x7bA}"', "$\x7bA}"],
    ["npm test $(ls)", "$("],
    ["npm test `ls`", "`"],
    ["(npm test)", "("],
    ["npm test src/*.js", "*"],
    ["npm test file?.js", "?"],
    ["node ~/x.js", "~"],
    ["npm test\nnpm run lint", "a line break"],
  ])("needs a shell: %s, because of %s", (text, syntax) => {
    expect(findShellSyntax(text)?.syntax).toBe(syntax);
    expect(refusal(() => parseVerifyCommand(text, facts)).code).toBe("VERIFY_NEEDS_SHELL");
  });

  it("that joins programs is refused with the same programs one by one", () => {
    expect(refusal(() => parseVerifyCommand("npm test && npm run lint", facts))).toEqual({
      code: "VERIFY_NEEDS_SHELL",
      message: '--verify runs a program without a shell, and "&&" is shell syntax',
      fix: '--verify "npm test" --verify "npm run lint"     or     --verify-sh "npm test && npm run lint"',
    });
    expect(refusal(() => parseVerifyCommand("npm run 'a && b' && make", facts)).fix).toBe(
      `--verify "npm run 'a && b'" --verify "make"     or     --verify-sh "npm run 'a && b' && make"`,
    );
  });

  it("that a split would break is refused with the shell alone", () => {
    expect(refusal(() => parseVerifyCommand("cd web && npm test", facts)).fix).toBe('--verify-sh "cd web && npm test"');
    expect(refusal(() => parseVerifyCommand("npm test && cat *", facts)).fix).toBe('--verify-sh "npm test && cat *"');
    expect(refusal(() => parseVerifyCommand("npm test $A", facts)).fix).toBe("--verify-sh 'npm test $A'");
    expect(refusal(() => parseVerifyCommand("npm ci | cat", facts, "--setup")).fix).toBe(
      `--setup "sh -c 'npm ci | cat'"`,
    );
  });

  it("names a program that is there: VERIFY_PROGRAM_MISSING otherwise, with the one of the tree", () => {
    expect(refusal(() => parseVerifyCommand("nmp test", facts))).toEqual({
      code: "VERIFY_PROGRAM_MISSING",
      message: "the verify command names nmp, which is neither in PATH nor in the tree",
      fix: "Install nmp, or give its path.",
    });
    expect(refusal(() => parseVerifyCommand("./missing.sh", facts)).code).toBe("VERIFY_PROGRAM_MISSING");
    expect(refusal(() => parseVerifyCommand("vitest run", facts)).fix).toBe('--verify "node_modules/.bin/vitest run"');
  });
});

describe("what a repository says about its tests", () => {
  const find = (files: Readonly<Record<string, string>>) =>
    findVerifyCommands({
      isThere: (path) => files[path] !== undefined,
      read: (path) => (files[path] === undefined ? null : Buffer.from(files[path])),
    }).map(({ command, file }) => `${file}: ${command}`);
  const PACKAGE = '{"scripts":{"test":"vitest"}}';

  it.each([
    [{ "package.json": PACKAGE }, ["package.json: npm test"]],
    [{ "package.json": PACKAGE, "pnpm-lock.yaml": "" }, ["package.json: pnpm test"]],
    [{ "package.json": PACKAGE, "yarn.lock": "" }, ["package.json: yarn test"]],
    [{ "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' }, []],
    [{ "package.json": "{" }, []],
    [{ "Cargo.toml": "" }, ["Cargo.toml: cargo test"]],
    [{ "go.mod": "" }, ["go.mod: go test ./..."]],
    [{ "conftest.py": "" }, ["conftest.py: pytest"]],
    [{ "pyproject.toml": "[tool.pytest.ini_options]\n", ".venv/bin/pytest": "" }, ["pyproject.toml: .venv/bin/pytest"]],
    [{ "pyproject.toml": "[project]\n" }, []],
    [{ "requirements.txt": "flask\npytest==8\n" }, ["requirements.txt: pytest"]],
    [{ "requirements.txt": "flask\n", tests: "" }, []],
    [{ tests: "", ".venv/bin/pytest": "" }, ["tests: .venv/bin/pytest"]],
    [{ "setup.cfg": "[tool:pytest]\n", "tox.ini": "[tox]\n" }, ["setup.cfg: pytest", "tox.ini: tox"]],
    [{ "pom.xml": "" }, ["pom.xml: mvn test"]],
    [{ gradlew: "" }, ["gradlew: ./gradlew test"]],
    [{ Makefile: "all:\n\ntest: all\n\techo\n" }, ["Makefile: make test"]],
    [{ Makefile: "retest:\n" }, []],
    [{ "package.json": PACKAGE, Makefile: "test:\n" }, ["package.json: npm test", "Makefile: make test"]],
  ] as readonly [Record<string, string>, string[]][])("is found: %j", (files, expected) => {
    expect(find(files)).toEqual(expected);
  });

  it("is told to whoever gave no command: VERIFY_NOT_CONFIGURED", () => {
    const found = verifyNotConfigured([{ command: "npm test", file: "package.json" }]);
    expect([found.code, found.message, found.fix]).toEqual([
      "VERIFY_NOT_CONFIGURED",
      "nothing says how to verify a change",
      'found in package.json: --verify "npm test" (or --no-verify)',
    ]);
    expect(verifyNotConfigured([]).fix).toBe('Use --verify "COMMAND", or --no-verify.');
  });
});
