import { join } from "node:path";
import ts from "typescript";

/** Something that a published entry exports, with what its comment says. */
export interface ApiExport {
  /** The file of the entry without its ending: `index`, `context`, ... */
  readonly entry: string;
  readonly name: string;
  /** Whether there is something to call or to read; a type has neither. */
  readonly isValue: boolean;
  readonly summary: string;
  readonly examples: readonly string[];
  /** The same thing under another entry, which came first. */
  readonly isRepeated: boolean;
}

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  skipLibCheck: true,
  types: [],
};

/** Every export of the entries, read from built declarations: what somebody who installs the package is shown. */
export function listApiExports(folder: string, entries: readonly string[]): ApiExport[] {
  const files = entries.map((entry) => join(folder, `${entry}.d.ts`));
  const program = ts.createProgram(files, OPTIONS);
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  return entries.flatMap((entry, i) => {
    const file = program.getSourceFile(files[i]!);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${files[i]} does not exist, or exports nothing`);
    return checker.getExportsOfModule(module).map((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      const isRepeated = seen.has(symbol);
      seen.add(symbol);
      return { entry, name: exported.name, isRepeated, ...describe(symbol, checker) };
    });
  });
}

function describe(symbol: ts.Symbol, checker: ts.TypeChecker): Pick<ApiExport, "isValue" | "summary" | "examples"> {
  const tags = symbol.getJsDocTags(checker).filter(({ name }) => name === "example");
  return {
    isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0,
    summary: ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim(),
    examples: tags.map(({ text }) => ts.displayPartsToString(text).trim()),
  };
}

/** What is missing: a sentence on every export, an example on every value (docs/adr/0055). */
export function checkApiExports(exports: readonly ApiExport[]): string[] {
  return exports.flatMap(({ entry, name, isValue, summary, examples }) => [
    ...(summary === "" ? [`${entry}: ${name} has no sentence`] : []),
    ...(isValue && !examples.some((example) => example !== "") ? [`${entry}: ${name} has no @example`] : []),
  ]);
}
