/** The names that stand for others in a text; null leaves a macro as it is. */
export interface Macros {
  readonly user: string;
  readonly char: string | null;
}

const MACRO = /\{\{(char|user)\}\}|<(USER|BOT)>/gi;

/** A text with the names in it, replaced in one go: a name that looks like a macro is not read again. */
export function expandMacros(text: string, { user, char }: Macros): string {
  return text.replace(MACRO, (macro: string, braced: string | undefined, angled: string | undefined) => {
    const isUser = (braced ?? angled)!.toLowerCase() === "user";
    return isUser ? user : (char ?? macro);
  });
}

/** Whether a text names a character. */
export function namesChar(text: string): boolean {
  return [...text.matchAll(MACRO)].some(([, braced, angled]) => (braced ?? angled)!.toLowerCase() !== "user");
}
