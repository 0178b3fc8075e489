// The second thread of the index: parses code and names its definitions. It is given everything it knows, the rules of the
// languages included, and answers with lines and names; text that is not code to it is never run, only parsed.
"use strict";
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { Module } = require("node:module");
const { join } = require("node:path");
const { parentPort, workerData } = require("node:worker_threads");

/** Definitions inside more others than this are part of those. */
const DEEPEST_NAME = 12;
/** Nor is anything looked into that lies deeper than this: frames and wrappers may nest without names. */
const DEEPEST_LOOK = 64;
const LONGEST_NAME = 1024;

/** How a definition is named: a list of paths, one for each name, or nothing. */
const NAMES = {
  field: (node) => [[node.childForFieldName("name")]],
  left: (node) => [[node.childForFieldName("left")]],
  first: (node) => [[node.firstNamedChild]],
  // Go declares several names at once.
  all: (node) =>
    node
      .childrenForFieldName("name")
      .filter(isThere)
      .map((name) => [name]),
  // Only where a declaration has a body it says what the name is.
  withBody: (node) => (node.childForFieldName("body") === null ? [] : NAMES.field(node)),
  withValue: (node) => (node.childForFieldName("value") === null ? [] : NAMES.field(node)),
  declarator: (node) => (node.childForFieldName("name")?.type === "identifier" ? NAMES.field(node) : []),
  // A field of a class that is a function is a method.
  functionField: (node) => (isFunction(node.childForFieldName("value")) ? nameOfField(node) : []),
  assigned: (node) => (isFunction(node.childForFieldName("right")) ? NAMES.left(node) : []),
  exported: (node) => [[node.childForFieldName("name") ?? "default"]],
  identifier: (node) => (node.childForFieldName("left")?.type === "identifier" ? NAMES.left(node) : []),
  constant: (node) => (node.childForFieldName("left")?.type === "constant" ? NAMES.left(node) : []),
  singleton: (node) => [[`${textOf(node.childForFieldName("object"))}.${textOf(node.childForFieldName("name"))}`]],
  receiver: (node) => [[receiverOf(node), node.childForFieldName("name")]],
  implementation: (node) => [[headOf(node)]],
  function: (node) => declaratorPath(node.childForFieldName("declarator")),
  typedef: (node) => [[innermost(node.childForFieldName("declarator"))]],
  constants: (node) => (hasChild(node, "type_qualifier", ["const", "constexpr"]) ? initialised(node) : []),
  readonly: (node) => (isReadonly(node) ? assignments(node) : []),
};

/** What makes a list of fields constants. */
const CONDITIONS = {
  staticFinal: (node) => /\bstatic\b/.test(modifiersOf(node)) && /\bfinal\b/.test(modifiersOf(node)),
  constField: (node) =>
    hasChild(node, "modifier", ["const"]) ||
    (hasChild(node, "modifier", ["static"]) && hasChild(node, "modifier", ["readonly"])),
};

function isThere(node) {
  return node !== null && node !== undefined;
}

function textOf(node) {
  return isThere(node) ? node.text : "";
}

const FUNCTIONS = ["arrow_function", "function_expression", "generator_function", "function", "class"];

function isFunction(node) {
  return isThere(node) && FUNCTIONS.includes(node.type);
}

function nameOfField(node) {
  return [[node.childForFieldName("name") ?? node.childForFieldName("property")]];
}

function childrenOf(node, types) {
  return node.namedChildren.filter((child) => isThere(child) && types.includes(child.type));
}

function hasChild(node, type, texts) {
  return childrenOf(node, [type]).some((child) => texts.includes(child.text));
}

function modifiersOf(node) {
  return childrenOf(node, ["modifiers"]).map(textOf).join(" ");
}

/** `*Set[T]` is of the type Set. */
function receiverOf(node) {
  const receiver = textOf(node.childForFieldName("receiver")).replace(/^\(|\)$/g, "");
  const type = receiver.replace(/\[.*$/s, "").replace(/^.*[\s*]/s, "");
  return type.replace(/[*\s]/g, "");
}

/** What an `impl` of Rust is called. */
function headOf(node) {
  const type = textOf(node.childForFieldName("type"));
  const trait = node.childForFieldName("trait");
  return trait === null ? `impl ${type}` : `impl ${textOf(trait)} for ${type}`;
}

/** What the parts of an `impl` are below: the type itself, so that they are found as its methods, or the whole head. */
function insideOf(node) {
  if (node.type !== "impl_item") return null;
  if (node.childForFieldName("trait") !== null) return null;
  const type = node.childForFieldName("type");
  return textOf(type?.type === "generic_type" ? type.childForFieldName("type") : type);
}

/** The declarator in pointers, references, arrays and parentheses. */
function innermost(node) {
  let found = node;
  for (let i = 0; i < DEEPEST_LOOK && isThere(found); i++) {
    if (/identifier$|_name$|^operator_cast$/.test(found.type)) return found;
    found = found.childForFieldName("declarator") ?? found.firstNamedChild;
  }
  return null;
}

/** `a::B::c` is c of B of a. */
function declaratorPath(declarator) {
  const parts = [];
  let node = innermost(declarator);
  for (let i = 0; i < DEEPEST_LOOK && node?.type === "qualified_identifier"; i++) {
    const scope = node.childForFieldName("scope");
    if (scope !== null) parts.push(scope.type === "template_type" ? scope.childForFieldName("name") : scope);
    node = node.childForFieldName("name");
  }
  return node === null ? [] : [[...parts, node]];
}

function initialised(node) {
  return childrenOf(node, ["init_declarator"]).map((one) => [innermost(one.childForFieldName("declarator"))]);
}

function isReadonly(node) {
  const [word] = node.text.split(/\s/, 1);
  return (
    word === "readonly" || (["declare", "typeset"].includes(word) && childrenOf(node, ["word"]).some(isReadonlyFlag))
  );
}

function isReadonlyFlag(node) {
  return /^-[a-zA-Z]*r/.test(node.text);
}

function assignments(node) {
  return childrenOf(node, ["variable_assignment"]).map((one) => [one.childForFieldName("name")]);
}

/** A name as a heading has it: one line, one space between words, at most so long; quotes around it are not part of it. */
function toName(part) {
  const text = typeof part === "string" ? part : textOf(part);
  const bare = text.replace(/^(["'`])(.*)\1$/s, "$2");
  const words = bare
    .replaceAll("\0", "\ufffd")
    .replace(/[ \t\n]+/g, " ")
    .trim();
  return words.length <= LONGEST_NAME ? words : [...words].slice(0, LONGEST_NAME).join("");
}

/** Walks a tree by the rules of its language and collects `[first line, line after the last, path]`. */
class Walk {
  constructor(rules, text) {
    this.rules = rules;
    // The line that names an interpreter is about the file.
    this.firstRow = text.startsWith("#!") ? 1 : 0;
    this.found = [];
  }

  /** Looks at the children of a node, each with the comments and attributes directly above it. */
  visit(node, path, deep, isTop, items = null) {
    if (deep > DEEPEST_LOOK) return;
    const { rules, found } = this;
    const cursor = node.walk();
    let lead = null;
    let lastRow = -1;
    let previous = null;
    for (let more = cursor.gotoFirstChild(); more; more = cursor.gotoNextSibling()) {
      if (!cursor.nodeIsNamed) continue;
      const start = cursor.startPosition.row;
      const end = lastRowOf(cursor);
      if (rules.leading.includes(cursor.nodeType)) {
        // What stands behind a statement, on its line, is about that statement.
        if (start > lastRow && start >= this.firstRow)
          lead = lead !== null && lead.end >= start - 1 ? { start: lead.start, end } : { start, end };
        continue;
      }
      const first = lead !== null && lead.end >= start - 1 ? lead.start : start;
      lead = null;
      lastRow = end;
      const before = found.length;
      if (items === null || items.includes(cursor.nodeType)) {
        this.look(cursor.currentNode, { start: first, end: end + 1 }, path, deep + 1, isTop);
      }
      previous = this.join(previous, before);
    }
    cursor.delete();
  }

  /** Definitions of one name that follow each other directly, as overloads do, are one. */
  join(previous, before) {
    const { found } = this;
    if (found.length !== before + 1 || !found[before].joins) return null;
    const last = found[before];
    const isSame =
      previous?.path.length === last.path.length && previous.path.every((name, i) => name === last.path[i]);
    if (!isSame) return last;
    previous.end = Math.max(previous.end, last.end);
    found.pop();
    return previous;
  }

  look(node, range, path, deep, isTop) {
    if (deep > DEEPEST_LOOK) return;
    const { wraps, frames, lists, definitions } = this.rules;
    const { type } = node;
    if (Object.hasOwn(wraps, type)) {
      for (const child of node.namedChildren) {
        if (!isThere(child) || (wraps[type] !== null && !wraps[type].includes(child.type))) continue;
        this.look(child, range, path, deep + 1, isTop);
      }
    } else if (Object.hasOwn(frames, type)) {
      this.visit(node.childForFieldName("body") ?? node, path, deep + 1, isTop && frames[type]);
    } else if (Object.hasOwn(lists, type)) {
      this.lookAtList(node, lists[type], range, path, deep, isTop);
    } else if (Object.hasOwn(definitions, type)) this.define(node, definitions[type], range, path, deep, isTop);
  }

  /** A declaration of one thing is that thing; of several, each has its own lines. */
  lookAtList(node, { items, inside, when, atTop }, range, path, deep, isTop) {
    if ((atTop && !isTop) || (when !== undefined && !CONDITIONS[when](node))) return;
    const list = (inside === undefined ? null : childrenOf(node, [inside])[0]) ?? node;
    const cursor = list.walk();
    let only = null;
    let count = 0;
    for (let more = cursor.gotoFirstChild(); more && count < 2; more = cursor.gotoNextSibling()) {
      if (!items.includes(cursor.nodeType)) continue;
      only = cursor.currentNode;
      count++;
    }
    cursor.delete();
    if (count === 1) this.look(only, range, path, deep + 1, isTop);
    else this.visit(list, path, deep + 1, isTop, items);
  }

  define(node, { name, body, atTop }, range, path, deep, isTop) {
    if (atTop && !isTop) return;
    for (const parts of NAMES[name](node)) {
      const names = parts.map(toName);
      if (names.length === 0 || names.includes("") || path.length + names.length > DEEPEST_NAME) continue;
      const own = [...path, ...names];
      this.found.push({ start: range.start, end: range.end, path: own, joins: body === undefined });
      const inside = body === undefined ? null : node.childForFieldName(body);
      if (inside === null) continue;
      const below = insideOf(node);
      this.visit(inside, below === null ? own : [...path, toName(below)], deep + 1, false);
    }
  }
}

/** A node that ends with a line feed does not reach into the next line. */
function lastRowOf(cursor) {
  const { row, column } = cursor.endPosition;
  return column === 0 && row > cursor.startPosition.row ? row - 1 : row;
}

/** Whether a text is more than the parser can be trusted with. What is too much is the same on every machine. */
function isTooComplex(text, { longestLine, deepestBrackets }) {
  let depth = 0;
  for (let i = 0, line = 0; i < text.length; i++, line++) {
    const code = text.charCodeAt(i);
    if (code === 0x0a) line = -1;
    else if (code === 0x28 || code === 0x5b || code === 0x7b) depth++;
    else if ((code === 0x29 || code === 0x5d || code === 0x7d) && depth > 0) depth--;
    if (line >= longestLine || depth > deepestBrackets) return true;
  }
  return false;
}

/** The parser, from files whose hashes are the ones that are expected. */
class Engine {
  constructor({ folder, engine, languages, limits }) {
    this.folder = folder;
    this.files = engine;
    this.languages = languages;
    this.limits = limits;
    this.loaded = new Map();
    this.parser = null;
  }

  read({ file, sha256 }) {
    const bytes = readFileSync(join(this.folder, file));
    if (createHash("sha256").update(bytes).digest("hex") !== sha256)
      throw new Error(`${file} is not the file expected`);
    return bytes;
  }

  async start() {
    const place = join(this.folder, this.files.script.file);
    const module = new Module(place);
    // Not by its path: what was compared with the hash is what runs.
    module._compile(this.read(this.files.script).toString("utf8"), place);
    const { Parser, Language } = module.exports;
    const { firstPages, mostPages } = this.limits;
    const wasmMemory = new WebAssembly.Memory({ initial: firstPages, maximum: mostPages });
    await Parser.init({ wasmBinary: this.read(this.files.wasm), wasmMemory, print() {}, printErr() {} });
    this.Language = Language;
    this.parser = new Parser();
  }

  /** Makes the parser ready for a language. */
  async load(name) {
    if (this.parser === null) await this.start();
    let language = this.loaded.get(name);
    if (language === undefined) {
      language = await this.Language.load(this.read(this.languages[name]));
      this.loaded.set(name, language);
    }
    this.parser.setLanguage(language);
  }

  /** The definitions of a text, or why there are none. The effort is counted in steps of the parser, never in time. */
  outline(name, text) {
    if (isTooComplex(text, this.limits)) return { problem: "OUTLINE_TOO_COMPLEX" };
    let left = this.limits.leastSteps + Math.ceil(text.length / this.limits.unitsPerStep);
    let leftAfterError = this.limits.stepsAfterError;
    this.parser.reset();
    const tree = this.parser.parse(text, null, {
      progressCallback: ({ hasError }) => --left < 0 || (hasError && --leftAfterError < 0),
    });
    if (tree === null) return { problem: "OUTLINE_TOO_COMPLEX" };
    try {
      if (tree.rootNode.type === "ERROR") return { problem: "OUTLINE_NOT_PARSED" };
      const walk = new Walk(this.languages[name].rules, text);
      walk.visit(tree.rootNode, [], 0, true);
      return { found: walk.found.map(({ start, end, path }) => [start, end, path]) };
    } finally {
      tree.delete();
    }
  }
}

module.exports = { Engine };

if (workerData?.isOutline === true) {
  const engine = new Engine(workerData);
  const say = (thrown) => (thrown instanceof Error ? thrown.message : String(thrown));
  parentPort.on("message", async ({ id, language, text }) => {
    try {
      await engine.load(language);
    } catch (thrown) {
      parentPort.postMessage({ id, unloadable: say(thrown) });
      return;
    }
    try {
      parentPort.postMessage({ id, ...engine.outline(language, text) });
    } catch (thrown) {
      // The memory of the parser is spent or damaged; whoever asked starts another thread.
      parentPort.postMessage({ id, failure: say(thrown) });
    }
  });
}
