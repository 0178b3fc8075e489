import { encodeUtf8 } from "../../../core/canonical/index.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import type { GateFinding } from "../contracts/agent-run.ts";

/** What somebody said about a place of a change. */
export interface Remark {
  readonly path: string;
  /** First and last line; null: the whole file. */
  readonly lines: { readonly from: number; readonly to: number } | null;
  /** Lines of the file as the agent found it, not as it left it. */
  readonly isBefore: boolean;
  readonly quote: readonly string[];
  readonly text: string;
}

/** A command that did not pass. */
export interface FailedCommand {
  readonly cmd: string;
  readonly exit_code: number;
  readonly reason: string;
  /** Its last lines. */
  readonly printed: readonly string[];
  /** Whether it fails without the change too; null: nobody tried. */
  readonly also_fails: boolean | null;
}

/** What an agent is told before its next attempt. */
export interface FeedbackParts {
  /** The number of the attempt that it is about. */
  readonly attempt: number;
  /** Whether the agent finds its change in the tree again. */
  readonly begins: "candidate" | "base" | "tree";
  readonly note: string;
  readonly remarks: readonly Remark[];
  readonly findings: readonly GateFinding[];
  readonly failed: FailedCommand | null;
  /** Why it did not come to an end of its own; null: it did. */
  readonly broken_off: string | null;
  /** Files in which its change and someone else's met. */
  readonly conflicts: readonly string[];
}

const FOUND: Readonly<Record<FeedbackParts["begins"], string>> = {
  candidate: "You find the files as you left them.",
  base: "You begin again: your earlier changes are not in the files you find.",
  tree: "The files you find are the newest ones, with your change merged into them.",
};

const MOST_TEXT = 60 * 1024;
const LONGEST = 2000;

/**
 * The text of a feedback file: the same parts always give the same bytes. Null where there is nothing to say. At most 60 KiB,
 * so that it fits into one argument; of a command's lines the oldest go first.
 */
export function formatFeedback(parts: FeedbackParts): string | null {
  const { note, remarks, findings, failed, broken_off, conflicts } = parts;
  const isSaid = note.trim() !== "" || remarks.length > 0 || findings.length > 0 || conflicts.length > 0;
  if (!isSaid && failed === null && broken_off === null) return null;
  const blocks = [
    `# About attempt ${parts.attempt}\n\n${FOUND[parts.begins]}`,
    ...(note.trim() === "" ? [] : [note.trim()]),
    ...remarks.map(formatRemark),
    ...(broken_off === null ? [] : [`## You were not done\n\n${sentence(broken_off)} Go on from there.`]),
    ...(conflicts.length === 0 ? [] : [formatConflicts(conflicts)]),
    ...(findings.length === 0 ? [] : [formatFindings(findings)]),
  ];
  const head = `${blocks.join("\n\n")}\n`;
  if (failed === null) return cut(head, MOST_TEXT);
  const fit = (lines: readonly string[]) => `${head}\n${formatFailed(failed, lines)}`;
  let lines = failed.printed.map((line) =>
    line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line,
  );
  while (lines.length > 0 && encodeUtf8(fit(lines)).length > MOST_TEXT) lines = lines.slice(1);
  return cut(fit(lines), MOST_TEXT);
}

function formatRemark({ path, lines, isBefore, quote, text }: Remark): string {
  const at = lines === null ? "" : lines.from === lines.to ? `:${lines.from}` : `:${lines.from}-${lines.to}`;
  const before = isBefore ? " (as it was before your change)" : "";
  const quoted = quote.map((line) => `> ${line}\n`).join("");
  return `## ${path}${at}${before}\n\n${quoted}${quoted === "" ? "" : "\n"}${text.trim()}`;
}

function formatConflicts(paths: readonly string[]): string {
  const list = paths.map((path) => `- ${path}`).join("\n");
  return `## Changed by someone else in the same place\n\nEach of these files holds both versions between conflict markers. Keep what both wanted, and remove the markers.\n\n${list}`;
}

function formatFindings(findings: readonly GateFinding[]): string {
  const list = findings.map(({ path, line, says, flag }) => {
    const at = path === null ? "" : `${path}${line === null ? "" : `:${line}`}: `;
    const own = path !== null && says.startsWith(path) ? "" : at;
    const lifted = flag === null ? "Nobody can allow it." : `The user could allow it with ${flag}.`;
    return `- ${own}${sentence(says)} ${lifted}`;
  });
  return `## Your change was rejected\n\n${list.join("\n")}\n\nReach the goal without it.`;
}

function formatFailed({ cmd, exit_code, reason, also_fails }: FailedCommand, lines: readonly string[]): string {
  const also =
    also_fails === null
      ? ""
      : also_fails
        ? "\nIt fails without your change too."
        : "\nWithout your change it does not fail.";
  const printed =
    lines.length === 0
      ? "It printed nothing."
      : `The last ${lines.length === 1 ? "line" : `${lines.length} lines`} it printed:\n\n${lines.map((line) => `    ${line}`.trimEnd()).join("\n")}`;
  return `## The check did not pass\n\n${reason}.\nCommand: ${cmd}\nExit code: ${exit_code}${also}\n\n${printed}\n`;
}

function sentence(text: string): string {
  const said = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

function cut(text: string, most: number): string {
  const bytes = encodeUtf8(text);
  if (bytes.length <= most) return text;
  return `${new TextDecoder().decode(bytes.slice(0, most)).replace(/\uFFFD+$/u, "")}\n[cut here: the text was longer]\n`;
}

/** In what way an attempt failed: equal for two that failed in the same way. */
export function signFailure(
  crypto: Pick<SyncCrypto, "sha256">,
  failure: {
    readonly gate: string;
    readonly index: number;
    readonly exit_code: number;
    readonly lines: readonly string[];
  },
): string {
  const { gate, index, exit_code, lines } = failure;
  const last = lines.slice(-SIGNED_LINES).map(withoutChance).join("\n");
  return `${gate}:${index}:${exit_code}:${crypto.sha256(encodeUtf8(last))}`;
}

const SIGNED_LINES = 20;

/** A line without what differs from run to run: temporary paths, hex strings, times, numbers. */
function withoutChance(line: string): string {
  return line
    .replace(/(?:\/private)?\/(?:var\/)?tmp\/[^\s:'")\]]*/g, "TMP")
    .replace(/\b(?:0x)?(?=[0-9a-f]*[0-9])(?:[0-9a-f]{6,}|[0-9a-f]{8}-[0-9a-f-]{27})\b/gi, "HEX")
    .replace(/[0-9]+(?:[.,:][0-9]+)*\s?(?:ns|µs|us|ms|s|sec|seconds?|m|min|minutes?|h)\b/g, "N")
    .replace(/[0-9]+(?:[.,:][0-9]+)*/g, "N");
}
