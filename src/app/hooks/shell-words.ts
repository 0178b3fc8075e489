/** A word of a shell command as far as it can be known without running it. */
export interface ShellWord {
  readonly text: string;
  /** Whether the shell would still change it: a variable, a substitution or a pattern. */
  readonly open: boolean;
}

export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** Targets of `>`, `>>`, `>|`, `&>` and `<>`. */
  readonly redirects: readonly ShellWord[];
}

const SPACE = " \t";
const ENDS = ";&|()\n";

/** Splits a command line into simple commands. Not a shell: what it cannot know is marked open. Cost: one pass. */
export function splitShell(text: string): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: ShellWord[] = [];
  let redirects: ShellWord[] = [];
  let target = false;
  const flush = () => {
    if (words.length > 0 || redirects.length > 0) commands.push({ words, redirects });
    words = [];
    redirects = [];
    target = false;
  };
  for (let at = 0; at < text.length; ) {
    const sign = text[at]!;
    if (SPACE.includes(sign)) at++;
    else if (sign === "#" && (at === 0 || (SPACE + ENDS).includes(text[at - 1]!))) at = endOfLine(text, at);
    else if (sign === ">" || sign === "<" || (sign === "&" && text[at + 1] === ">")) {
      const operator = /^(?:&>>?|<>|<<<|<<-?|<&|>>|>\||>&|>|<)/.exec(text.slice(at, at + 3))![0];
      at += operator.length;
      target = operator.includes(">") && operator !== ">&";
      if (operator === ">&" && /^[0-9-]/.test(text[at] ?? "")) target = false;
      else if (operator === ">&") target = true;
    } else if (ENDS.includes(sign)) {
      flush();
      at++;
    } else {
      const { word, end } = readWord(text, at);
      at = end;
      // A number right before a redirection is a descriptor, not a word.
      if (/^[0-9]+$/.test(word.text) && (text[at] === ">" || text[at] === "<")) continue;
      if (target) redirects.push(word);
      else words.push(word);
      target = false;
    }
  }
  flush();
  return commands;
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
    } else if (sign === "\\") {
      value += text[at + 1] === "\n" ? "" : (text[at + 1] ?? "");
      at += 2;
    } else {
      if ("$`*?[{".includes(sign)) open = true;
      value += sign;
      at++;
    }
  }
  return { word: { text: value, open }, end: at };
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
