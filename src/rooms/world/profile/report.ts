import { z } from "zod";
import type { Lost } from "../import/lines.ts";

const PROFILE_FORMAT = "verbatim.profile-report";

const lostSchema = z.strictObject({ what: z.string(), count: z.int(), where: z.string() });

const KINDS = [
  "character",
  "chat",
  "group-chat",
  "group",
  "lore",
  "picture",
  "settings",
  "preset",
  "secrets",
  "link",
  "other",
] as const;
export type FileKind = (typeof KINDS)[number];

const fileSchema = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  sha256: z.string().nullable().describe("Null for what was not opened."),
  kind: z.enum(KINDS),
  outcome: z
    .enum(["CARRIED", "KEPT", "LEFT", "FAILED"])
    .describe("Became part of a world; kept byte for byte; not taken; cannot be read."),
  world_id: z.string().nullable(),
  entries: z.int().describe("Lines of a chat that were written."),
  lost: z.array(lostSchema),
  code: z.string().nullable().describe("Why it failed."),
  where: z.string().nullable().describe("Where it failed, or why it was left."),
});

export const profileReportSchema = z.strictObject({
  format: z.literal(PROFILE_FORMAT),
  version: z.literal(1),
  source: z.strictObject({ kind: z.enum(["folder", "archive"]), root: z.string() }),
  files: z.array(fileSchema),
  totals: z.strictObject({
    files: z.int(),
    carried: z.int(),
    kept: z.int(),
    left: z.int(),
    failed: z.int(),
    worlds: z.int(),
    lines: z.int().describe("Lines of all chats that were carried."),
    entries: z.int(),
    hidden: z.int(),
    blank: z.int(),
    header: z.int(),
  }),
});

export type ProfileReport = z.output<typeof profileReportSchema>;
export type FileRow = ProfileReport["files"][number];

/** A row about a file of which nothing is known yet but its name. */
export function toRow(path: string, bytes: number, kind: FileKind, more: Partial<FileRow> = {}): FileRow {
  const nothing = { sha256: null, world_id: null, entries: 0, lost: [], code: null, where: null };
  return { path, bytes, kind, outcome: "LEFT", ...nothing, ...more };
}

/** What a chat said, for the totals. */
export interface ChatTotals {
  readonly lines: number;
  readonly entries: number;
  readonly hidden: number;
  readonly blank: number;
  readonly header: number;
}

/** The report of all rows, in the order of their paths. */
export function toReport(
  source: ProfileReport["source"],
  files: readonly FileRow[],
  chats: readonly ChatTotals[],
): ProfileReport {
  const count = (outcome: FileRow["outcome"]) => files.filter((one) => one.outcome === outcome).length;
  const sum = (of: keyof ChatTotals) => chats.reduce((total, chat) => total + chat[of], 0);
  return {
    format: PROFILE_FORMAT,
    version: 1,
    source,
    files: [...files],
    totals: {
      files: files.length,
      carried: count("CARRIED"),
      kept: count("KEPT"),
      left: count("LEFT"),
      failed: count("FAILED"),
      worlds: chats.length,
      lines: sum("lines"),
      entries: sum("entries"),
      hidden: sum("hidden"),
      blank: sum("blank"),
      header: sum("header"),
    },
  };
}

/** A list of losses as a report has it. */
export function toLost(lost: readonly Lost[]): FileRow["lost"] {
  return lost.map((one) => ({ ...one }));
}
