import { Zip, ZipDeflate } from "fflate";
import type { App } from "../../app/call.ts";

/** Files have no times of their own in the archive: the same record gives the same bytes. */
const NO_TIME = new Date(1980, 0, 1);

/** The files of the record of a run as one ZIP, read and packed piece by piece while somebody takes them. */
export async function packRun(
  app: App,
  run: string,
): Promise<{ readonly name: string; readonly body: ReadableStream<Uint8Array> }> {
  const { run_id, files } = await app.call("agent.artifacts", { run });
  const pieces = packFiles(app, run_id, files);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
  return { name: `${run_id}.zip`, body };
}

async function* packFiles(
  app: App,
  run: string,
  files: readonly { readonly path: string; readonly bytes: number }[],
): AsyncGenerator<Uint8Array, void> {
  const made: Uint8Array[] = [];
  const zip = new Zip((failed, piece) => {
    if (failed !== null) throw failed;
    made.push(piece);
  });
  for (const { path, bytes: size } of files) {
    const entry = new ZipDeflate(`${run}/${path}`, { level: 6 });
    entry.mtime = NO_TIME;
    zip.add(entry);
    for (let from = 0; ; ) {
      const part = await app.call("agent.artifact", { run, path, from });
      // A file that grows is packed as long as it was when somebody asked.
      const bytes = Buffer.from(part.base64, "base64").subarray(0, size - from);
      from += bytes.length;
      const isLast = from >= size || bytes.length === 0;
      entry.push(bytes, isLast);
      yield* made.splice(0);
      if (isLast) break;
    }
  }
  zip.end();
  yield* made.splice(0);
}
