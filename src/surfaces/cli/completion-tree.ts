import type { App } from "../../app/call.ts";
import { NOUNS } from "./nouns.ts";
import { GLOBAL_FLAGS, toFlags } from "./program.ts";

/** A word of the command line, what may follow it, and its flags. */
interface CompletionNode {
  /** Words before this one, separated by spaces; empty for the program itself. */
  readonly path: string;
  readonly words: string[];
  readonly flags: string[];
}

/** Verbs that are surfaces of their own, which src/main.ts starts. */
const SERVER = ["--port", "--host", "--token", "--tls-cert", "--tls-key", "--public-url", "--insecure-http"];
const SURFACES: Readonly<Record<string, readonly string[]>> = {
  mcp: ["--max-bytes", "--http", ...SERVER],
  studio: [...SERVER, "--at", "--no-web"],
  serve: ["--port", "--host", "--tls-cert", "--tls-key", "--public-url", "--health", "--wait", "--no-web"],
};

/** Every noun and verb with its flags, as the shells need them. */
export async function describeTree(app: App): Promise<CompletionNode[]> {
  const nodes = new Map<string, CompletionNode>();
  const node = (path: string): CompletionNode => {
    const known = nodes.get(path) ?? { path, words: [], flags: [] };
    nodes.set(path, known);
    return known;
  };
  for (const entry of NOUNS) {
    node("").words.push(entry.noun);
    const { noun } = await entry.load();
    for (const verb of noun.verbs) {
      let path = entry.noun;
      for (const word of verb.path) {
        const parent = node(path);
        if (!parent.words.includes(word)) parent.words.push(word);
        path = `${path} ${word}`;
      }
      const flags = toFlags(await app.describe(verb.operation), verb).map(({ name }) => `--${name}`);
      const all = [...flags, ...GLOBAL_FLAGS, "--help"];
      node(path).flags.push(...all);
      if (verb.isDefault === true) node(path.slice(0, path.lastIndexOf(" "))).flags.push(...all);
    }
  }
  for (const [surface, flags] of Object.entries(SURFACES)) {
    node("").words.push(surface);
    node(surface).flags.push(...flags, "--help");
  }
  return [...nodes.values()];
}
