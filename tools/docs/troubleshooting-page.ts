import { CODES, type CodeFacts } from "../../src/core/errors/index.ts";
import { SYMPTOMS, type Symptom } from "./symptoms.ts";

const HEAD = `# Troubleshooting

Generated from the table of errors by \`npm run docs\`; the symptoms are in \`tools/docs/symptoms.ts\`.

An error on a terminal reads \`error[CODE] what was wrong\`, then where, then what to do next. Look for the code, or for what you
see. Nothing is half done after an error: what was begun has been undone, or the next command says what it found and finishes it.
\`verbatim doctor\` checks the machine and the workspace. [All ${Object.keys(CODES).length} codes](errors.md).`;

/** The page of what people see and what to do about it, as Markdown. */
export function formatTroubleshootingPage(symptoms: Readonly<Record<string, readonly Symptom[]>> = SYMPTOMS): string {
  const parts = Object.entries(symptoms).map(([title, list]) =>
    [`## ${title}`, ...list.map((symptom) => formatSymptom(symptom))].join("\n\n"),
  );
  return `${[HEAD, ...parts].join("\n\n")}\n`;
}

function formatSymptom({ seen, codes, more }: Symptom): string {
  if (codes.length === 0 && more === undefined) throw new Error(`nothing is said about: ${seen}`);
  const rows = codes.map((code) => formatCode(code, CODES[code]));
  const table = rows.length === 0 ? [] : [["| code | cause | what to do |", "|---|---|---|", ...rows].join("\n")];
  return [`### ${seen}`, ...table, ...(more === undefined ? [] : [more])].join("\n\n");
}

function formatCode(code: string, { says, fix }: CodeFacts): string {
  return `| \`${code}\` | ${cell(says)} | ${cell(typeof fix === "string" ? fix : fix.cli)} |`;
}

/** Text that stays one cell and is not read as HTML. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
}
