import ts from "typescript";
import { eachNode, type Source } from "./sources.ts";

/** Places of `as never` and `as unknown as`, as `path:line`: the two casts after which the compiler checks nothing. */
export function listCasts(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, tree }) => {
    const found: string[] = [];
    eachNode(tree, (node) => {
      if (!ts.isAsExpression(node)) return;
      const toNever = node.type.kind === ts.SyntaxKind.NeverKeyword;
      const viaUnknown =
        ts.isAsExpression(node.expression) && node.expression.type.kind === ts.SyntaxKind.UnknownKeyword;
      if (!toNever && !viaUnknown) return;
      found.push(`${path}:${tree.getLineAndCharacterOfPosition(node.type.getStart()).line + 1}`);
    });
    return found;
  });
}
