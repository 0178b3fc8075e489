import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHECKOUT = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));

function isTemporary(place: string): boolean {
  return ["/tmp", "/var/tmp", tmpdir()].some((folder) => `${place}/`.startsWith(`${folder}/`));
}

/**
 * Where scratch may lie that a guarded command has to see: not below the temporary folder, because a command has one of
 * its own. In the checkout, unless the checkout itself lies there.
 */
const PLACES = [
  join(CHECKOUT, "node_modules/.cache"),
  "/var/cache/verbatim-tests",
  join(homedir(), ".cache/verbatim-tests"),
];

let chosen: string | null = null;

export function scratchPlace(): string {
  if (chosen !== null) return chosen;
  const refused: unknown[] = [];
  for (const place of PLACES) {
    if (isTemporary(place)) continue;
    try {
      mkdirSync(place, { recursive: true });
      chosen = realpathSync(place);
      return chosen;
    } catch (error) {
      refused.push(error);
    }
  }
  throw new AggregateError(refused, `no folder outside the temporary one can be written: ${PLACES.join(", ")}`);
}

/** A new folder there; whoever makes it removes it. */
export function makeScratchFolder(prefix: string): string {
  return realpathSync(mkdtempSync(join(scratchPlace(), prefix)));
}
