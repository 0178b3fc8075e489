import type { FrozenFiles } from "./files.ts";

/** Prints what a command line prints on standard output. */
export type Print = (argv: readonly string[]) => Promise<string>;

/**
 * Every help text, found as a person finds them: the first page names the nouns, each noun names its verbs. One file
 * per noun. The version is replaced by the word VERSION.
 */
export async function freezeHelp(print: Print): Promise<FrozenFiles> {
  const first = (await print(["--help"])).replace(/^verbatim \S+/, "verbatim VERSION");
  const nouns = listNouns(first);
  if (nouns.length < 10) throw new Error(`the first page of help names ${nouns.length} nouns`);
  const files = new Map([["help/_first.txt", first]]);
  for (const noun of nouns) files.set(`help/${noun}.txt`, (await printBelow(print, [noun])).join("\n"));
  return files;
}

async function printBelow(print: Print, path: readonly string[]): Promise<string[]> {
  const text = await print([...path, "--help"]);
  const below = await Promise.all(listCommands(text).map((word) => printBelow(print, [...path, word])));
  return [`$ verbatim ${path.join(" ")} --help\n${text}`, ...below.flat()];
}

/** `jobs       job          plan, post, run`: the room stands only before its first noun; `team  a, b: ...` names several. */
function listNouns(page: string): string[] {
  const table = page.split("\nflags that work with every verb")[0]!.split("\n").slice(4);
  return table.flatMap((line) => /^(?:[a-z]+)? +((?:[a-z]+, )*[a-z]+)(?: {2}|: )/.exec(line)?.[1]?.split(", ") ?? []);
}

function listCommands(text: string): string[] {
  const [, commands = ""] = text.split("\nCommands:\n");
  return [...commands.split("\n\n")[0]!.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1]!);
}
