import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import type { Plugin } from "vite";
import { ALL_CODES } from "./raised-table.ts";
import { ROOT } from "./stages.ts";

// In tests, and only there, the source is read with a recorder around every code it hands out. Nothing of this is in the
// product.

const PRELUDE = `const __raised = globalThis[Symbol.for("verbatim.raised")] ?? ((code) => code); `;
const QUOTED = /"([A-Z][A-Z0-9_]+)"/g;
/** Methods that look a code up, or say which ones a check may raise. */
const SILENT = new Set(["has", "get", "includes", "startsWith", "indexOf", "raises"]);
/** What findings call their code. */
const MEMBERS = new Set(["code", "condition"]);
const MAY_PASS_ON = /\b(?:code|condition|VerbatimError)\b/;
/** Where a syntax tree has types. */
const TYPES = new Set(["typeAnnotation", "typeArguments", "typeParameters", "returnType"]);
const NOTHING_INSIDE = /^(?:Import|ExportAll|TSInterface|TSTypeAlias)/;

/** A node of the syntax tree; its other members depend on its type. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** The text of a module with a recorder around every code that a function of it hands out. */
export function withRecorder(path: string, text: string): string {
  if (!MAY_PASS_ON.test(text) && ![...text.matchAll(QUOTED)].some(([, word]) => ALL_CODES.has(word!))) return text;
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const places = new Places(program as unknown as Node, !path.includes("/src/surfaces/"));
  return places.insertions.length === 0 ? text : PRELUDE + insert(text, places.insertions);
}

/** Where a module hands out codes. */
class Places {
  readonly insertions: { readonly at: number; readonly text: string }[] = [];
  readonly #constants: ReadonlySet<string>;
  readonly #passedOn: boolean;

  /** `passedOn`: whether codes that came from elsewhere count. A surface writes down errors that others have raised. */
  constructor(program: Node, passedOn: boolean) {
    this.#passedOn = passedOn;
    this.#constants = findConstants(program);
    this.#visit(program, [], false);
  }

  /** Outside of functions there are only tables, and rules that nobody has asked yet. */
  #visit(node: Node, above: readonly Node[], inside: boolean): void {
    if (NOTHING_INSIDE.test(node.type)) return;
    if (inside) {
      if (this.#isCode(node) && isHandedOut(node, above)) this.#wrap(node);
      if (node.type === "ObjectExpression") this.#lookAtMembers(node);
      if (node.type === "NewExpression") this.#lookAtError(node);
    }
    const isInside = inside || /Function(?:Expression|Declaration)$/.test(node.type);
    for (const member in node) {
      if (TYPES.has(member)) continue;
      const value = node[member];
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (isNode(child)) this.#visit(child, [node, ...above.slice(0, 1)], isInside);
      }
    }
  }

  #isCode(node: Node): boolean {
    return isCode(node) || (node.type === "Identifier" && this.#constants.has(String(node["name"])));
  }

  /** A finding whose code came from elsewhere. */
  #lookAtMembers(object: Node): void {
    if (!this.#passedOn || isRule(object)) return;
    for (const one of object["properties"] as readonly Node[]) {
      if (!MEMBERS.has(nameOf(one))) continue;
      const value = one["value"] as Node;
      if (one["shorthand"] === true) this.insertions.push({ at: one.end, text: `: __raised(${nameOf(one)})` });
      else if (value.type !== "Literal") this.#wrap(value);
    }
  }

  /** An error whose code came from elsewhere. */
  #lookAtError(node: Node): void {
    const [code] = node["arguments"] as readonly Node[];
    if ((node["callee"] as Node)["name"] !== "VerbatimError" || code === undefined || code.type === "Literal") return;
    this.#wrap(code);
  }

  #wrap({ start, end }: Node): void {
    this.insertions.push({ at: start, text: "__raised(" }, { at: end, text: ")" });
  }
}

/** Names of constants of a module that stand for one code. */
function findConstants(program: Node): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of program["body"] as readonly Node[]) {
    const { declarations = [] } = (statement["declaration"] ?? statement) as {
      readonly declarations?: readonly { readonly id: Node; readonly init: Node | null }[];
    };
    for (const { id, init } of declarations) {
      const value = init?.type === "TSAsExpression" ? (init["expression"] as Node) : init;
      if (value !== null && isCode(value)) names.add(String(id["name"]));
    }
  }
  return names;
}

/** A code that is only compared, looked up or kept for later raises nothing. */
function isHandedOut(node: Node, [parent, grandparent]: readonly Node[]): boolean {
  if (parent?.type === "BinaryExpression") return parent["operator"] !== "===" && parent["operator"] !== "!==";
  if (parent?.type === "SwitchCase") return parent["test"] !== node;
  if (parent?.type === "Property") {
    return parent["value"] === node && parent["shorthand"] !== true && !isRule(grandparent!);
  }
  if (parent?.type === "MemberExpression") return parent["property"] !== node;
  // A default is handed out where it is used.
  if (parent?.type === "AssignmentPattern") return false;
  const asking = parent?.type === "ArrayExpression" ? grandparent : parent;
  const asked = asking?.type === "CallExpression" ? (asking["callee"] as Node) : asking;
  return asked?.type !== "MemberExpression" || !SILENT.has(String((asked["property"] as Node)["name"]));
}

/** What has a `run` says how to check, and has found nothing yet. */
function isRule(object: Node): boolean {
  return (object["properties"] as readonly Node[]).some((one) => nameOf(one) === "run");
}

function isCode(node: Node): boolean {
  return node.type === "Literal" && ALL_CODES.has(node["value"] as string);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

function nameOf(property: Node): string {
  return property.type === "Property" ? String((property["key"] as Node)["name"]) : "";
}

function insert(text: string, insertions: readonly { readonly at: number; readonly text: string }[]): string {
  let [all, done] = ["", 0];
  for (const { at, text: more } of insertions.toSorted((a, b) => a.at - b.at)) {
    all += text.slice(done, at) + more;
    done = at;
  }
  return all + text.slice(done);
}

/** Reads the source of the product with the recorder in it. */
export function recordRaisedCodes(): Plugin {
  const source = `${join(ROOT, "src")}/`;
  return {
    name: "verbatim-raised-codes",
    enforce: "pre",
    transform(text, id) {
      const path = id.split("?", 1)[0]!;
      const isOurs = path.startsWith(source) && path.endsWith(".ts") && !path.endsWith(".test.ts");
      return isOurs ? { code: withRecorder(path, text), map: null } : null;
    },
  };
}
