import { type CorpusFile, keepRepository } from "./git-corpus.ts";
import { seededIntegers, seededWords } from "./seed.ts";

const FILE_BYTES = 4_100;

/** TypeScript files of 4.1 kB with classes, functions, types and constants, the same in every run. */
export function* makeModules(count: number): Iterable<CorpusFile> {
  const next = seededIntegers(20_261_118);
  for (let i = 0; i < count; i++) yield { path: `src/part-${i % 100}/module-${i}.ts`, text: makeModule(next) };
}

/** A git repository with so many modules. */
export function openModules(count: number): Promise<string> {
  const makers = ["bench/code-corpus.ts", "bench/seed.ts"];
  return keepRepository(`code-${count}`, makers, () => makeModules(count));
}

function makeModule(next: (bound: number) => number): string {
  const name = () => seededWords(next, 2).replace(" ", "_") + next(1000);
  let text = `import { ${name()} } from "./${name()}.ts";\n\nexport const ${name()} = ${next(99)};\n\n`;
  while (text.length < FILE_BYTES) {
    text += `/** ${seededWords(next, 7)}. */\nexport class ${name()} {\n`;
    for (let i = 0; i < 3; i++) text += makeMethod(next, name());
    text += `}\n\ntype ${name()} = { readonly ${name()}: number };\n\n`;
    text += `export function ${name()}(given: string): number {\n  return given.length * ${next(9)};\n}\n\n`;
  }
  return text;
}

function makeMethod(next: (bound: number) => number, name: string): string {
  const words = seededWords(next, 4);
  return (
    `  ${name}(a: number, b: readonly string[]): string {\n` +
    `    if (a > ${next(100)}) return b.map((one) => one.trim()).join("${words}");\n` +
    `    for (let i = 0; i < a; i++) this.count += i % ${2 + next(7)};\n` +
    `    return \`\${a} ${words}\`;\n  }\n\n`
  );
}
