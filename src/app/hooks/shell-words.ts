/** A word of a shell command as far as it can be known without running it. */
export interface ShellWord {
  readonly text: string;
  /** Whether the shell would still change it: a variable, a substitution or a pattern. */
  readonly open: boolean;
  /** Whether it begins with a tilde that the shell replaces. */
  readonly tilde: boolean;
}

export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** Targets of `>`, `>>`, `>|`, `&>` and `<>`. */
  readonly redirects: readonly ShellWord[];
  /** The text of a here document, which is input and not a command. */
  readonly input: string;
}

const SPACE = " \t";
const ENDS = ";&|()\n";

/** Splits a command line into simple commands. Not a shell: what it cannot know is marked open. Cost: one pass. */
export function splitShell(text: string): SimpleCommand[] {
  const commands: { words: ShellWord[]; redirects: ShellWord[]; input: string }[] = [];
  const waiting: { readonly end: string; readonly command: { input: string } }[] = [];
  let current = { words: [] as ShellWord[], redirects: [] as ShellWord[], input: "" };
  let next: "word" | "target" | "source" | "document" = "word";
  const flush = () => {
    if (current.words.length > 0 || current.redirects.length > 0) commands.push(current);
    current = { words: [], redirects: [], input: "" };
    next = "word";
  };
  for (let at = 0; at < text.length; ) {
    const sign = text[at]!;
    if (SPACE.includes(sign)) at++;
    else if (sign === "#" && (at === 0 || (SPACE + ENDS).includes(text[at - 1]!))) at = endOfLine(text, at);
    else if (sign === ">" || sign === "<" || (sign === "&" && text[at + 1] === ">")) {
      const operator = /^(?:&>>?|<>|<<<|<<-?|<&|>>|>\||>&|>|<)/.exec(text.slice(at, at + 3))![0];
      at += operator.length;
      next = toNext(operator, text[at] ?? "");
    } else if (ENDS.includes(sign)) {
      flush();
      at++;
      if (sign === "\n") at = readDocuments(text, at, waiting.splice(0));
    } else {
      const { word, end } = readWord(text, at);
      at = end;
      // A number right before a redirection is a descriptor, not a word.
      if (/^[0-9]+$/.test(word.text) && (text[at] === ">" || text[at] === "<")) continue;
      if (next === "target") current.redirects.push(word);
      else if (next === "document") waiting.push({ end: word.text, command: current });
      else if (next === "word") current.words.push(word);
      next = "word";
    }
  }
  flush();
  return commands;
}

function toNext(operator: string, sign: string): "target" | "source" | "document" {
  if (operator.startsWith("<<") && operator !== "<<<") return "document";
  if (operator === ">&") return /^[0-9-]/.test(sign) ? "source" : "target";
  return operator.includes(">") ? "target" : "source";
}

/** Takes the lines of here documents to whoever reads them; the place after them. */
function readDocuments(
  text: string,
  from: number,
  waiting: readonly { readonly end: string; readonly command: { input: string } }[],
): number {
  let at = from;
  for (const { end, command } of waiting) {
    while (at < text.length) {
      const line = text.slice(at, endOfLine(text, at));
      at += line.length + 1;
      if (line.replace(/^\t+/, "") === end) break;
      command.input += `${line}\n`;
    }
  }
  return Math.min(at, text.length);
}

function readWord(text: string, start: number): { readonly word: ShellWord; readonly end: number } {
  let value = "";
  let open = false;
  let at = start;
  while (at < text.length && !`${SPACE}${ENDS}<>`.includes(text[at]!)) {
    const sign = text[at]!;
    if (sign === "'") {
      const end = text.indexOf("'", at + 1);
      value += text.slice(at + 1, end === -1 ? text.length : end);
      at = end === -1 ? text.length : end + 1;
    } else if (sign === '"') {
      const end = endOfQuote(text, at + 1);
      const inside = text.slice(at + 1, end);
      if (/[$`]/.test(inside)) open = true;
      value += inside.replace(/\\([\\"$`])/g, "$1");
      at = end + 1;
    } else if (sign === "`") {
      const end = text.indexOf("`", at + 1);
      value += text.slice(at, end === -1 ? text.length : end + 1);
      open = true;
      at = end === -1 ? text.length : end + 1;
    } else if (sign === "\\") {
      value += text[at + 1] === "\n" ? "" : (text[at + 1] ?? "");
      at += 2;
    } else {
      if ("$*?[{".includes(sign)) open = true;
      value += sign;
      at++;
    }
  }
  return { word: { text: value, open, tilde: text[start] === "~" }, end: at };
}

function endOfQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}
