import type * as EnginePackage from "pg-boss";
import { VerbatimError } from "../../core/errors/index.ts";

/** The queue's package, which only those who post or work for a team need. ENGINE_MISSING. */
export async function loadEngine(
  load: () => Promise<typeof EnginePackage> = () => import("pg-boss"),
): Promise<typeof EnginePackage> {
  try {
    return await load();
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : null;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw thrown;
    throw new VerbatimError("ENGINE_MISSING", { cause: thrown });
  }
}
