import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { CatalyticPorts, OutputFilter } from "../../../rooms/catalytic/index.ts";
import { type Run, toName } from "../../../rooms/workflow/index.ts";

const FILES = { stdout: "output.log", stderr: "errors.log" } as const;
type Stream = keyof typeof FILES;

/** The folder of an attempt, and the files in it that hold what the agent printed. */
export function outputFile(n: number, stream: Stream): string {
  return `agent/attempts/${toName(n)}/${FILES[stream]}`;
}

function write(file: { readonly descriptor: number; left: number }, bytes: Uint8Array): void {
  file.left -= writeSync(file.descriptor, bytes, 0, Math.min(bytes.length, file.left));
}

/**
 * Writes what the command prints next to its attempt while it prints it, so that others can follow. When the attempt has
 * ended, the recorded log takes its place, which keeps the end as well where this one had become too long.
 */
export function withOutputLog(
  ports: CatalyticPorts,
  run: Run,
  n: number,
  most: number,
  redact: (stream: Stream) => OutputFilter,
): CatalyticPorts {
  const folder = run.folder.makeFolder(`agent/attempts/${toName(n)}`);
  const { guards } = ports;
  return {
    ...ports,
    guards: {
      ...guards,
      async launch(request) {
        const files = new Map<Stream, { readonly descriptor: number; readonly filter: OutputFilter; left: number }>();
        let isClosed = false;
        const add = (stream: Stream, bytes: Uint8Array) => {
          if (isClosed) return;
          const file = files.get(stream) ?? {
            descriptor: openSync(join(folder, FILES[stream]), "w", 0o600),
            filter: redact(stream),
            left: most,
          };
          files.set(stream, file);
          write(file, file.filter.add(bytes));
        };
        const close = () => {
          isClosed = true;
          for (const file of files.values()) {
            write(file, file.filter.end());
            closeSync(file.descriptor);
          }
        };
        const onOutput: typeof request.onOutput = (stream, bytes) => {
          add(stream, bytes);
          request.onOutput(stream, bytes);
        };
        const running = await guards.launch({ ...request, onOutput });
        running.ended.then(close, close);
        return running;
      },
    },
  };
}
