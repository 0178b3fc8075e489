import { VerbatimError } from "../../../core/errors/index.ts";
import { type Run, redactBytes, type SecretFinder } from "../../../rooms/workflow/index.ts";
import type { Masks } from "../request/masks.ts";

/** What an export must not repeat: it is made to be given away, so nothing counts as shown. */
export interface Discretion {
  readonly finder: SecretFinder;
  readonly masks: Masks;
}

/** A text without its secrets. */
export function clean(finder: SecretFinder, text: string): string {
  return new TextDecoder().decode(redactBytes(finder, new TextEncoder().encode(text)));
}

export function nothingToExport({ id, folder }: Run, message: string): VerbatimError {
  return new VerbatimError("EXPORT_EMPTY", {
    message,
    where: folder.dir,
    fix: { cli: `See what is left of it: verbatim agent show ${id}`, others: "Choose another run." },
  });
}
