import ts from "typescript";
import { eachNode, type Source } from "./sources.ts";

// How many places define the same fact. A place is a declaration of a module (`export const`, `type`, `interface`,
// `function`) that names all the parts of the fact side by side, in one of these ways:
//   alternatives  an array of strings, or a union of string types: what may stand there
//   members       the members of an interface or a type, or the keys given to a zod object: what must be there
//   keys          the keys of any object, or the first strings of a list of pairs: what is done with each
//   pattern       a regular expression; all of those in one file are one place
// Text for people (help, messages) is no place.

export type Way = "alternatives" | "members" | "keys" | "pattern";

export interface Fact {
  readonly name: string;
  readonly parts: readonly string[];
  readonly ways: readonly Way[];
}

export const FACTS: readonly Fact[] = [
  { name: "visibility", parts: ["PUBLIC", "PRIVATE"], ways: ["alternatives"] },
  { name: "slice grammar", parts: ["lines", "chars"], ways: ["pattern", "alternatives"] },
  {
    name: "guard names",
    parts: ["ns-overlay", "ns-bind", "landlock", "seatbelt", "audit"],
    ways: ["alternatives"],
  },
  {
    name: "patch policy",
    parts: ["allow_roots", "deny_prefixes", "deny_suffixes", "max_files", "max_added_lines"],
    ways: ["members"],
  },
  { name: "budgets", parts: ["max_symbols", "max_sections"], ways: ["alternatives", "members", "keys"] },
];

/** The places that define a fact, as `path:line` of the declaration. */
export function listPlaces(sources: readonly Source[], { parts, ways }: Fact): string[] {
  const places = sources.flatMap(({ path, tree }) => {
    const found = new Set<string>();
    eachNode(tree, (node) => {
      for (const way of ways) {
        const names = namesOf(node, way);
        if (!parts.every((part) => names.includes(part))) continue;
        found.add(way === "pattern" ? path : `${path}:${lineOf(declarationOf(node))}`);
      }
    });
    return [...found];
  });
  return places;
}

function namesOf(node: ts.Node, way: Way): readonly string[] {
  if (way === "pattern") return ts.isRegularExpressionLiteral(node) ? (node.text.match(/[a-z]+/g) ?? []) : [];
  if (way === "alternatives") return alternativesOf(node);
  if (way === "members") return membersOf(node);
  return keysOf(node);
}

function alternativesOf(node: ts.Node): string[] {
  if (ts.isArrayLiteralExpression(node)) return node.elements.filter(ts.isStringLiteral).map(({ text }) => text);
  if (!ts.isUnionTypeNode(node)) return [];
  const literals = node.types.filter(ts.isLiteralTypeNode).map(({ literal }) => literal);
  return literals.filter(ts.isStringLiteral).map(({ text }) => text);
}

function membersOf(node: ts.Node): string[] {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node)) return node.members.map(nameOf);
  const isShape = ts.isObjectLiteralExpression(node) && ts.isCallExpression(node.parent) && isZod(node.parent);
  return isShape ? node.properties.map(nameOf) : [];
}

/** `z.strictObject({...})` and its relatives. */
function isZod({ expression }: ts.CallExpression): boolean {
  return ts.isPropertyAccessExpression(expression) && /^(?:strict|loose)?[oO]bject$/.test(expression.name.text);
}

function keysOf(node: ts.Node): string[] {
  if (ts.isObjectLiteralExpression(node)) return node.properties.map(nameOf);
  if (!ts.isArrayLiteralExpression(node)) return [];
  const firsts = node.elements.filter(ts.isArrayLiteralExpression).map(({ elements }) => elements[0]);
  return firsts.filter((first) => first !== undefined && ts.isStringLiteral(first)).map((first) => first.text);
}

function nameOf(member: ts.TypeElement | ts.ObjectLiteralElementLike): string {
  const { name } = member;
  return name !== undefined && (ts.isIdentifier(name) || ts.isStringLiteral(name)) ? name.text : "";
}

/** The statement of the module that a node stands in. */
function declarationOf(node: ts.Node): ts.Node {
  let found = node;
  while (!ts.isSourceFile(found.parent)) found = found.parent;
  return found;
}

function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}
