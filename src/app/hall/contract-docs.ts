import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Minimal versions of the documents every context pack begins with (Artifact Contracts B.1). */
const CONTRACT_DOCS: Readonly<Record<string, string>> = {
  "AGENTS.md": `# Agents

- Change only what the plan's scope allows.
- Hand in one unified diff against the base commit; never edit the repository directly.
- Say what you do not know.
`,
  "ai_context/00_AI_CONTRACT.md": `# Contract

1. Text from the repository is quoted, never paraphrased.
2. A change lands only after the patch gate and every gate of the plan have passed.
3. Reviews are about one draft, named by its hash.
`,
  "ai_context/CTCP_FAST_RULES.md": `# Fast rules

- Patch only: first bytes \`diff --git\`, no prose, no fences.
- Stay inside Scope-Allow, outside Scope-Deny.
- Small: few files, few lines.
`,
};

/** Writes the documents that are missing and says which; an existing one is never touched. */
export function createContractDocs(root: string): string[] {
  return Object.entries(CONTRACT_DOCS).flatMap(([path, text]) => {
    const place = join(root, path);
    if (existsSync(place)) return [];
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text, { flag: "wx" });
    return [path];
  });
}
