import { expect } from "vitest";
import { compareFrozen, type FrozenFiles, readFrozen } from "../../tools/freeze/files.ts";
import { FROZEN_FOLDER } from "../../tools/freeze.ts";

const frozen = readFrozen(FROZEN_FOLDER);

/** Compares with what was frozen, as far as it belongs to the same part, and says what to do about a difference. */
export function expectFrozen(now: FrozenFiles, belongs: (path: string) => boolean): void {
  const before = new Map([...frozen].filter(([path]) => belongs(path)));
  const differences = compareFrozen(before, now);
  const advice = "Not meant? Undo it. Meant? List it in CHANGELOG.md, then: npm run build && npm run freeze (-- PART)";
  expect(differences.length, `${differences.map(shorten).join("\n")}\n${advice}\n`).toBe(0);
}

/** The beginning of a difference; `npm run freeze -- --compare test/pins/frozen` shows all of it. */
function shorten(difference: string): string {
  const lines = difference.split("\n");
  return lines.length <= 60 ? difference : [...lines.slice(0, 60), `... ${lines.length - 60} more lines`].join("\n");
}
