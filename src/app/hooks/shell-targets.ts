import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { GIT_PATHS, GIT_PLACES, GIT_READS, PROGRAMS, type ProgramRule, SHELLS, WRAPPERS } from "./shell-programs.ts";
import { type ShellWord, type SimpleCommand, splitShell } from "./shell-words.ts";

/** A path that a command shows. */
interface ShellTarget {
  /** Absolute; links are not followed yet. */
  readonly path: string;
  /** Changed by the command; worked in, as by `git -C`; or only named by a program that nobody knows. */
  readonly use: "changed" | "visited" | "named";
}

const MOST_DEPTH = 4;
/** Where output is not kept. */
const SINKS = /^\/dev\/(?:null|zero|full|stdout|stderr|stdin|tty|fd\/[0-9]+)$/;

/** The paths a shell command shows that it changes, or may change. Cost: linear, a few times over for nested shells. */
export function listShellTargets(command: string, cwd: string, depth = 0): ShellTarget[] {
  if (depth > MOST_DEPTH) return [];
  const found: ShellTarget[] = [];
  let here = cwd;
  for (const one of splitShell(command)) {
    const { program, args } = unwrap(one.words);
    for (const text of listNested(program, args, one)) found.push(...listShellTargets(text, here, depth + 1));
    const { changed, named, visited } = listWords(program, args);
    for (const word of [...one.redirects, ...changed]) add(found, word, here, "changed");
    for (const word of visited ?? []) add(found, word, here, "visited");
    for (const word of named) add(found, word, here, "named");
    if (program === "cd" || program === "pushd") here = toPath(args[0] ?? HOME, here) ?? here;
  }
  return found;
}

const HOME: ShellWord = { text: "~", open: false, tilde: true };

function add(found: ShellTarget[], word: ShellWord, cwd: string, use: ShellTarget["use"]): void {
  const path = toPath(word, cwd);
  if (path !== null && !SINKS.test(path)) found.push({ path, use });
}

/** The program of a simple command, behind assignments and programs that run another. */
function unwrap(words: readonly ShellWord[]): { readonly program: string; readonly args: readonly ShellWord[] } {
  let rest = dropAssignments(words);
  while (rest.length > 0 && WRAPPERS.has(nameOf(rest[0]!))) {
    const after = dropAssignments(rest.slice(1));
    // Options and their values stand between a wrapper and its program; a program that is known ends them.
    const at = after.findIndex((word) => isProgram(nameOf(word)));
    rest = at === -1 ? dropOptions(after) : after.slice(at);
  }
  return { program: rest[0] === undefined ? "" : nameOf(rest[0]), args: rest.slice(1) };
}

function isProgram(name: string): boolean {
  return (
    PROGRAMS.has(name) || SHELLS.has(name) || WRAPPERS.has(name) || ["git", "find", "dd", "cd", "eval"].includes(name)
  );
}

function dropAssignments(words: readonly ShellWord[]): readonly ShellWord[] {
  const at = words.findIndex(({ text }) => !/^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(text));
  return at === -1 ? [] : words.slice(at);
}

function dropOptions(words: readonly ShellWord[]): readonly ShellWord[] {
  const at = words.findIndex(({ text }) => !text.startsWith("-"));
  return at === -1 ? [] : words.slice(at);
}

function nameOf({ text }: ShellWord): string {
  return text.slice(text.lastIndexOf("/") + 1);
}

/** Commands inside a command: the script of a shell, what is substituted, and the input of a shell. */
function listNested(program: string, args: readonly ShellWord[], { words, input }: SimpleCommand): string[] {
  const scripts: string[] = [];
  if (SHELLS.has(program)) {
    const at = args.findIndex(({ text }) => /^-[A-Za-z]*c$/.test(text));
    if (at !== -1) scripts.push(args[at + 1]?.text ?? "");
    else scripts.push(input);
  }
  if (program === "eval") scripts.push(args.map(({ text }) => text).join(" "));
  for (const { text, open } of words) {
    if (open) for (const match of text.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)) scripts.push(match[1] ?? match[2] ?? "");
  }
  return scripts.filter((text) => text.trim() !== "");
}

interface Words {
  readonly changed: readonly ShellWord[];
  readonly named: readonly ShellWord[];
  readonly visited?: readonly ShellWord[];
}

const NOTHING: Words = { changed: [], named: [] };

function listWords(program: string, args: readonly ShellWord[]): Words {
  if (program === "" || program === "cd" || program === "pushd" || SHELLS.has(program)) return NOTHING;
  if (program === "find") return { changed: listFound(args), named: [] };
  if (program === "git") return listGit(args);
  if (program === "dd") return { changed: listOperands(args, "of="), named: [] };
  const rule = PROGRAMS.get(program) ?? PROGRAMS.get(program.split(".")[0]!);
  if (rule !== undefined) return { changed: listChanged(program, args, rule), named: [] };
  // A program nobody knows: what it names may be what it changes.
  return { changed: [], named: args.filter(({ text }) => !text.startsWith("-")).map(toValue) };
}

function listOperands(args: readonly ShellWord[], name: string): ShellWord[] {
  return args.filter(({ text }) => text.startsWith(name)).map((word) => cut(word, name.length));
}

function listChanged(program: string, args: readonly ShellWord[], rule: ProgramRule): ShellWord[] {
  const { names, outputs, options } = splitArguments(args, rule);
  const isMade = program === "install" && options.some((text) => /^-[A-Za-z]*d|^--directory$/.test(text));
  if (rule.onlyWith !== undefined && !options.some((text) => rule.onlyWith!.test(text))) return outputs;
  if (rule.changes === "none") return outputs;
  if (rule.changes === "last" && !isMade) {
    return outputs.length > 0 || names.length < 2 ? outputs : [...outputs, names.at(-1)!];
  }
  // A script that an option gives is not among the arguments.
  const hasScript = program === "sed" && options.some((text) => /^(?:-[a-zA-Z]*[ef]|--expression|--file)/.test(text));
  return [...outputs, ...names.slice(hasScript ? 0 : (rule.skip ?? 0))];
}

/** Arguments, values of options that are written, and the options themselves. */
function splitArguments(args: readonly ShellWord[], rule: ProgramRule) {
  const values = new Set(rule.values?.split(" "));
  const written = new Set(rule.outputs?.split(" "));
  const names: ShellWord[] = [];
  const outputs: ShellWord[] = [];
  const options: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (word.text === "--") {
      names.push(...args.slice(at + 1));
      break;
    }
    if (!word.text.startsWith("-") || word.text === "-") {
      names.push(word);
      continue;
    }
    options.push(word.text);
    const equals = word.text.indexOf("=");
    if (equals !== -1) {
      if (written.has(word.text.slice(0, equals))) outputs.push(cut(word, equals + 1));
      continue;
    }
    // A short option may be the last of several in one word: `-pie SCRIPT`.
    const option = word.text.startsWith("--") ? word.text : `-${word.text.at(-1)}`;
    if (written.has(option) && args[at + 1] !== undefined) outputs.push(args[++at]!);
    else if (values.has(option)) at++;
    else outputs.push(...listGlued(word, written));
  }
  return { names, outputs, options };
}

/** The value right after a short option: `-o/etc/x`, also after others. */
function listGlued(word: ShellWord, written: ReadonlySet<string>): ShellWord[] {
  const value = /^-[A-Za-z]*?([A-Za-z])(?=[./~])/.exec(word.text);
  return value !== null && written.has(`-${value[1]}`) ? [cut(word, value[0].length)] : [];
}

const FIND_WRITES = new Set(["-fprint", "-fprint0", "-fls", "-fprintf"]);
const FIND_FILTERS = /^-(?:i?name|i?path|i?wholename|i?regex|newer.*|mtime|mmin|size|empty|perm|user)$/;

/** What a find changes: its roots when it deletes or runs something that changes files, and what it prints into. */
function listFound(args: readonly ShellWord[]): ShellWord[] {
  const end = args.findIndex(({ text }) => /^[-!(]/.test(text) && !/^-(?:[HLP]|O[0-9]|D)$/.test(text));
  const roots = args.slice(0, end === -1 ? args.length : end).filter(({ text }) => !text.startsWith("-"));
  const written = args.filter((_, i) => FIND_WRITES.has(args[i - 1]?.text ?? ""));
  const texts = args.map(({ text }) => text);
  const runs = args.flatMap((_, i) => (/^-(?:exec|ok)(?:dir)?$/.test(texts[i - 1] ?? "") ? [args.slice(i)] : []));
  const isChanging =
    texts.includes("-delete") ||
    runs.some((rest) => {
      const { program, args: given } = unwrap(rest);
      return listWords(program, given).changed.some(({ text }) => text.includes("{}"));
    });
  if (!isChanging) return written;
  // With a filter the folder itself is not meant, and everyone cleans up that way from the top.
  const isFiltered = texts.some((text) => FIND_FILTERS.test(text));
  return [...written, ...roots.filter(({ text }) => !isFiltered || !/^\.?\/*$/.test(text) || text.startsWith("/"))];
}

/** git keeps to the repository around it; options may point it elsewhere, and some verbs name what they change. */
function listGit(args: readonly ShellWord[]): Words {
  const places: ShellWord[] = [];
  let at = 0;
  for (; at < args.length && args[at]!.text.startsWith("-"); at++) {
    const word = args[at]!;
    const [name = ""] = word.text.split("=", 1);
    if (name === "--git-dir" || name === "--work-tree" || name === "-C") {
      places.push(word.text === name ? (args[++at] ?? word) : cut(word, name.length + 1));
    } else if (word.text === "-c") at++;
  }
  const verb = args[at]?.text ?? "";
  const rest = args.slice(at + 1);
  const { names, outputs } = splitArguments(rest, {
    changes: "none",
    outputs: "-o --output --output-directory -f --file",
  });
  // `-f` of other verbs means force and takes no value.
  const written = verb === "config" || !rest.some(({ text }) => text === "-f") ? outputs : [];
  if (GIT_READS.has(verb) || verb === "") return { changed: written, named: [] };
  const made = GIT_PLACES.has(verb) ? names.slice(verb === "init" ? 0 : 1) : [];
  return {
    changed: [...written, ...made],
    named: GIT_PATHS.has(verb) ? names : [],
    visited: places,
  };
}

/** `name=PATH`: the path follows the sign. */
function toValue(word: ShellWord): ShellWord {
  return cut(word, word.text.indexOf("=") + 1);
}

function cut(word: ShellWord, from: number): ShellWord {
  const text = word.text.slice(from);
  return from === 0 ? word : { ...word, text, tilde: text.startsWith("~") };
}

/** The path of a word as far as it shows; of a pattern or variable the folder in front of it. Null when nothing shows. */
function toPath(word: ShellWord, cwd: string): string | null {
  let { text, open } = word;
  if (text === "" || text === "-" || text.includes("\0")) return null;
  if (open) {
    text = text.replace(/\$(?:HOME\b|\{HOME\})/g, () => homedir()).replace(/\$(?:PWD\b|\{PWD\})/g, () => cwd);
    const at = text.search(/[$`*?[{]/);
    open = at !== -1;
    if (open) text = text.slice(0, text.lastIndexOf("/", at) + 1);
    // A pattern at the top could mean anything there.
    if (open && (text === "" || resolve(cwd, text) === cwd)) return null;
  }
  if (word.tilde) {
    const [name = "", ...below] = text.slice(1).split("/");
    const home = name === "" ? homedir() : join(dirname(homedir()), name);
    return join(home, ...below);
  }
  return resolve(cwd, text);
}
