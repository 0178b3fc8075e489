import type { AgentProfile } from "../contracts/agent-profile.ts";

/** What can be asked about a program before it starts. */
export interface ProgramFacts {
  /** The real path of the program that a word names, links followed; null where there is none. */
  realProgram(word: string): string | null;
}

/** Programs that only start another one, which is named by the first word after their own flags. */
const STARTERS: ReadonlySet<string> = new Set(["npx", "node", "bunx", "env"]);
const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "dash"]);

/** The profile of the agent that a command starts; null where none is known. A wrong guess is seen: it is printed. */
export function detectProfile(
  command: readonly string[],
  profiles: readonly AgentProfile[],
  facts: ProgramFacts,
): AgentProfile | null {
  for (const word of findStarted(command)) {
    const found = profiles.find((profile) => isProgramOf(profile, word, facts));
    if (found !== undefined) return found;
  }
  return null;
}

/** The program of a command, and what it starts where it only starts another one. */
function findStarted(command: readonly string[]): string[] {
  const [program = "", ...rest] = command;
  const name = baseName(program);
  if (SHELLS.has(name)) {
    const at = rest.indexOf("-c");
    const [first] = at < 0 ? [] : (rest[at + 1] ?? "").trim().split(/\s+/);
    return first ? [program, first] : [program];
  }
  if (!STARTERS.has(name)) return [program];
  const next = rest.find((word) => !word.startsWith("-") && !(name === "env" && word.includes("=")));
  return next === undefined ? [program] : [program, next];
}

function isProgramOf({ detect }: AgentProfile, word: string, facts: ProgramFacts): boolean {
  const real = facts.realProgram(word);
  const names = [baseName(word), ...(real === null ? [] : [baseName(real)])];
  if (detect.programs.some((program) => names.includes(program))) return true;
  const scripts = detect.scripts ?? [];
  // A package is named with its version, or its files lie in a folder of its name.
  if (scripts.some((script) => word === script || word.startsWith(`${script}@`))) return true;
  if (real !== null && scripts.some((script) => real.includes(`/node_modules/${script}/`))) return true;
  return (detect.inside ?? []).some(
    ({ program, folder }) => names.includes(program) && real !== null && real.split("/").slice(0, -1).includes(folder),
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
