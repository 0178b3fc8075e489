import { VerbatimError } from "../../../core/errors/index.ts";
import type { RoomPorts } from "../operations/ports.ts";
import type { RecordPlace } from "../record/records.ts";
import { readPieces, readWholeRecord } from "./pieces.ts";

/** Writes all files of a record whole into a new folder, as they were when the run ended. FILE_EXISTS, ARTIFACT_UNKNOWN. */
export async function unpackRecord(ports: RoomPorts, { record }: RecordPlace, folder: string): Promise<number> {
  const files = await readWholeRecord(ports, record);
  const lost = readPieces(ports, record)?.files.find(({ name }) => !files.has(name));
  if (lost !== undefined) {
    throw new VerbatimError("ARTIFACT_UNKNOWN", {
      message: `${lost.name} cannot be put together: a piece of it is not in this workspace`,
      where: record,
      fix: {
        cli: "Run it in the workspace that the record belongs to: -C DIR",
        others: "Use the workspace it belongs to.",
      },
    });
  }
  const place = folder.startsWith("/") ? folder : `${ports.folder ?? ""}/${folder}`;
  if (!ports.disk.createFolder(place, 0o700)) throw new VerbatimError("FILE_EXISTS", { where: folder });
  for (const [name, bytes] of files) ports.disk.createFile(`${place}/${name}`, bytes);
  return files.size;
}
