import ts from "typescript";
import type { ApiExport } from "./exports.ts";

/** An example of a comment as a program of its own. */
export interface ExampleProgram {
  readonly name: string;
  /** As it is compiled. */
  readonly typed: string;
  /** As it is run, where the example says what comes out and needs nothing but itself; else null. */
  readonly runnable: string | null;
}

const SAYS = /^(?<indent>\s*)(?<when>if \(.*?\) )?(?<does>.+); \/\/ (?:=> (?<gives>.+)|throws (?<code>[A-Z_]+))$/;

/** Whether an example can only be compiled: it leaves something to its reader, or works in a repository. */
const NEEDS_MORE = /^declare |path\/to|readFile/m;

/** The programs of all examples. What an example uses of its own entry is imported for it; anything else it imports itself. */
export function toExamplePrograms(packageName: string, exports: readonly ApiExport[]): ExampleProgram[] {
  return exports
    .filter(({ isRepeated }) => !isRepeated)
    .flatMap(({ entry, name, examples }) =>
      examples.map((example, i) => {
        const from = entry === "index" ? packageName : `${packageName}/${entry}`;
        const used = exports.filter((one) => one.entry === entry && new RegExp(`\\b${one.name}\\b`).test(example));
        const isImported = (one: ApiExport) => new RegExp(`^import .*\\b${one.name}\\b`, "m").test(example);
        const needed = used
          .filter((one) => !isImported(one))
          .map((one) => (one.isValue ? one.name : `type ${one.name}`));
        const head = needed.length === 0 ? "" : `import { ${needed.join(", ")} } from "${from}";\n`;
        const says = example.split("\n").some((line) => SAYS.test(line));
        const runnable = says && !NEEDS_MORE.test(example) ? toRunnable(`${head}${example}`) : null;
        return { name: `${entry}-${name}-${i}`, typed: `${head}${example}\nexport {};\n`, runnable };
      }),
    );
}

/** Plain JavaScript in which what a line says is checked. */
function toRunnable(program: string): string {
  const checked = program.split("\n").map((line) => {
    const { indent = "", when = "", does, gives, code } = SAYS.exec(line)?.groups ?? {};
    if (does === undefined) return line;
    const check = gives === undefined ? `saysThrows(() => ${does}, "${code}")` : `saysGives(${does}, ${gives})`;
    return `${indent}${when}${check};`;
  });
  const { outputText } = ts.transpileModule(checked.join("\n"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return `import { saysGives, saysThrows } from "./says.mjs";\n${outputText}`;
}

/** What the programs check themselves with. */
export const SAYS_MODULE = `import assert from "node:assert/strict";

const plain = (value) =>
  Array.isArray(value) ? value.map(plain)
  : typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([key, of]) => [key, plain(of)]))
  : value;

let said = 0;
export const howMany = () => said;
export function saysGives(actual, expected) {
  said++;
  assert.deepEqual(plain(actual), plain(expected));
}
export function saysThrows(act, code) {
  said++;
  assert.throws(act, (thrown) => thrown.code === code);
}
`;
