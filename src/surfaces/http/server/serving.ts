import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { showPath } from "../../../core/paths/index.ts";

interface Output {
  readonly stderr: { write(text: string): unknown };
}

/** Serves, and turns what it refuses into words and an exit code. */
export async function refuseInWords(world: Output, serve: () => Promise<number>): Promise<number> {
  try {
    return await serve();
  } catch (thrown) {
    const error = isVerbatimError(thrown) ? thrown : new VerbatimError("INTERNAL", { cause: thrown });
    const where = error.where === undefined ? "" : `  where: ${showPath(error.where)}\n`;
    world.stderr.write(`error[${error.code}] ${error.message}\n${where}  fix: ${error.fix}\n`);
    return error.exit;
  }
}

/** Writes down what went wrong while others were being served. */
export function logTo({ stderr }: Output): (thrown: unknown) => void {
  return (thrown) =>
    void stderr.write(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
