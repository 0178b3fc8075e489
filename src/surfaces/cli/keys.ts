/** A key as somebody pressed it: a character, or the name of a key without one. */
export interface Key {
  readonly name: string;
}

const NAMED: Readonly<Record<string, string>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[5~": "page up",
  "[6~": "page down",
};
const CONTROLS: Readonly<Record<string, string>> = {
  "\u0003": "ctrl-c",
  "\u0004": "ctrl-d",
  "\r": "enter",
  "\n": "enter",
  "\u007f": "backspace",
  "\b": "backspace",
  " ": "space",
};

const SEQUENCE = /^\u001b(\[[0-?]*[ -/]*[@-~]|O[A-Za-z])/;
const BEGUN = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;
const PASTE = "[200~";
const PASTED = "\u001b[201~";
/** How long the rest of a sequence may take; after that it was the key Escape. */
const LATE_MS = 50;

/** Keys out of what a terminal sends, however it is cut. What is pasted is no key. */
export function readKeys(push: (...keys: readonly Key[]) => void): { take(bytes: Uint8Array): void } {
  const decoder = new TextDecoder();
  let text = "";
  let isPasting = false;
  let timer: NodeJS.Timeout | undefined;
  const drain = () => {
    for (;;) {
      if (isPasting) {
        const end = text.indexOf(PASTED);
        if (end === -1) {
          text = text.slice(-(PASTED.length - 1));
          return;
        }
        text = text.slice(end + PASTED.length);
        isPasting = false;
      }
      const [first] = text;
      if (first === undefined || BEGUN.test(text)) return;
      const found = SEQUENCE.exec(text)?.[1];
      if (found === undefined) {
        text = text.slice(first.length);
        push({ name: first === "\u001b" ? "escape" : (CONTROLS[first] ?? first) });
        continue;
      }
      text = text.slice(found.length + 1);
      if (found === PASTE) isPasting = true;
      else if (NAMED[found] !== undefined) push({ name: NAMED[found] });
    }
  };
  return {
    take(bytes) {
      clearTimeout(timer);
      text += decoder.decode(bytes, { stream: true });
      drain();
      if (text === "" || isPasting) return;
      timer = setTimeout(() => {
        const rest = text;
        text = "";
        if (rest.startsWith("\u001b")) push({ name: "escape" });
      }, LATE_MS);
    },
  };
}
