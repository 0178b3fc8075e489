import type { ArtifactFinding } from "../artifacts/finding.ts";
import { formatFinding, sayFinding } from "../artifacts/finding.ts";

/** How findings are written: lines of text, SARIF or GitHub workflow commands. */
export type ReportFormat = "text" | "sarif" | "github";

interface Levels {
  readonly errors: readonly ArtifactFinding[];
  readonly warnings: readonly ArtifactFinding[];
}

/**
 * Findings as text lines, as SARIF 2.1.0, or as GitHub workflow commands.
 *
 * @example
 * formatReport({ errors: [], warnings: [] }, "text"); // => ""
 * formatReport(validateGuardrails(""), "github").startsWith("::error file="); // => true
 */
export function formatReport(levels: Levels, format: ReportFormat): string {
  switch (format) {
    case "text":
      return lines([
        ...levels.errors.map((finding) => formatFinding(finding, "error")),
        ...levels.warnings.map((finding) => formatFinding(finding, "warning")),
      ]);
    case "sarif":
      return `${JSON.stringify(toSarif(levels), null, 2)}\n`;
    case "github":
      return lines([
        ...levels.errors.map((finding) => toAnnotation(finding, "error")),
        ...levels.warnings.map((finding) => toAnnotation(finding, "warning")),
      ]);
  }
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}

function toSarif({ errors, warnings }: Levels) {
  const all = [
    ...errors.map((finding) => ({ finding, level: "error" })),
    ...warnings.map((finding) => ({ finding, level: "warning" })),
  ];
  const rules = new Map(all.map(({ finding }) => [finding.code, { id: finding.code, help: { text: finding.fix } }]));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "verbatim", rules: [...rules.values()] } },
        columnKind: "unicodeCodePoints",
        results: all.map(({ finding, level }) => ({
          ruleId: finding.code,
          level,
          message: { text: sayFinding(finding) },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodeURI(finding.file) },
                ...(finding.line === null ? {} : { region: { startLine: finding.line } }),
              },
            },
          ],
        })),
      },
    ],
  };
}

/** `::error file=PATH,line=N,title=CODE::message`, with what would end a command escaped. */
function toAnnotation(finding: ArtifactFinding, level: "error" | "warning"): string {
  const line = finding.line === null ? "" : `,line=${finding.line}`;
  return `::${level} file=${escapeProperty(finding.file)}${line},title=${escapeProperty(finding.code)}::${escapeData(sayFinding(finding))}`;
}

/** What a workflow command says, with what would end it escaped. */
export function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
