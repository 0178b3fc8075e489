import { dirname } from "node:path";
import { rolldown } from "rolldown";
import ts from "typescript";

/**
 * A test file and everything of the project that it reaches, as the body of one async function. Calling it loads all of it
 * again, without starting a process. Packages are asked for through `load`.
 */
export async function bundleTest(file: string): Promise<string> {
  const build = await rolldown({
    input: file,
    platform: "node",
    transform: { target: "node20" },
    // Helpers for syntax that the target lacks come with the bundler.
    external: (id) => !/^(?:[./]|@oxc-project\/runtime\/)/.test(id),
    onLog: () => undefined,
    plugins: [
      {
        name: "places",
        transform: (code, id) =>
          code
            .replaceAll("import.meta.url", JSON.stringify(`file://${id}`))
            .replaceAll("import.meta.dirname", JSON.stringify(dirname(id))),
      },
    ],
  });
  try {
    const { output } = await build.generate({ format: "esm", codeSplitting: false });
    return toBody(output[0].code);
  } finally {
    await build.close();
  }
}

function toBody(code: string): string {
  const source = ts.createSourceFile("test.js", code, ts.ScriptTarget.ES2023, false, ts.ScriptKind.JS);
  let out = "";
  let at = 0;
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    out += code.slice(at, statement.getStart(source));
    if (ts.isImportDeclaration(statement)) out += toLoad(statement);
    at = statement.getEnd();
  }
  return out + code.slice(at);
}

function toLoad({ moduleSpecifier, importClause }: ts.ImportDeclaration): string {
  const module = `await load(${JSON.stringify((moduleSpecifier as ts.StringLiteral).text)})`;
  if (importClause === undefined) return `${module};`;
  const parts: string[] = [];
  if (importClause.name !== undefined) parts.push(`{ default: ${importClause.name.text} } = ${module}`);
  const named = importClause.namedBindings;
  if (named !== undefined && ts.isNamespaceImport(named)) parts.push(`${named.name.text} = ${module}`);
  if (named !== undefined && ts.isNamedImports(named)) {
    const names = named.elements.map(({ propertyName, name }) => `${(propertyName ?? name).text}: ${name.text}`);
    parts.push(`{ ${names.join(", ")} } = ${module}`);
  }
  return `const ${parts.join(", ")};`;
}
