import { z } from "zod";
import { encodeUtf8, formatCanonical, toJson } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, OWNER } from "../../../core/operation.ts";
import { decodeBase64 } from "../../../core/trust/base64.ts";
import { importProfile } from "../profile/profile.ts";
import { type ProfileReport, profileReportSchema } from "../profile/report.ts";
import { openArchive, openFolder } from "../profile/source.ts";
import { requireLocal, type WorldRoom } from "./room.ts";

const MAX_ARCHIVE = 256 * 1024 * 1024;

const input = z.strictObject({
  path: z.string().min(1).optional().describe("Folder of a user of SillyTavern, or a zip archive of it."),
  base64: z.string().optional().describe("The archive in base64, instead of a path."),
  preview: z.boolean().default(false).describe("Only show what would be carried."),
  report: z.string().min(1).optional().describe("New file for the report."),
});

async function run(room: WorldRoom, { path, base64, preview }: z.output<typeof input>): Promise<ProfileReport> {
  if (path === undefined) {
    if (base64 === undefined) throw new VerbatimError("USAGE", { message: "name a folder or an archive" });
    const bytes = decodeBase64(base64);
    if (bytes === null) throw new VerbatimError("INPUT_INVALID", { message: "not base64", where: "/base64" });
    if (bytes.length > MAX_ARCHIVE) throw new VerbatimError("IMPORT_TOO_LARGE");
    return importProfile(room, openArchive(room.inflater, bytes), "archive", preview);
  }
  if (base64 !== undefined) throw new VerbatimError("USAGE", { message: "a path and base64 exclude each other" });
  requireLocal(room, "path");
  if (await room.folders.isFolder(path)) {
    return importProfile(room, await openFolder(room.folders, path), "folder", preview);
  }
  const archive = openArchive(room.inflater, await room.files.read(path, MAX_ARCHIVE));
  return importProfile(room, archive, "archive", preview);
}

/** The whole folder of a user of another program. */
export const importProfileOperation = defineOperation({
  name: "world.import-profile",
  summary: "Makes a world of every chat of a SillyTavern profile. No chat is lost: each file is in the report.",
  effect: "append",
  who: OWNER,
  input,
  output: profileReportSchema,
  localFields: ["path", "report"],
  async run(room: WorldRoom, given) {
    if (given.report !== undefined) requireLocal(room, "report");
    const report = await run(room, given);
    if (given.report !== undefined) {
      await room.files.replace(given.report, encodeUtf8(`${formatCanonical(toJson(report))}\n`));
    }
    return report;
  },
});
