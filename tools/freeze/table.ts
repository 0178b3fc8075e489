import { createHash } from "node:crypto";
import { listOperations } from "../../src/app/call.ts";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { withDefaults } from "../../src/core/contracts/config/index.ts";
import { CODES, FINDINGS } from "../../src/core/errors/index.ts";
import { generateContracts } from "../build-contracts.ts";
import type { FrozenFiles } from "./files.ts";

export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

/** JSON that a person can read, in the order in which it was made. */
export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}

/** Name, effect, surfaces and summary of every operation. Its schemas are frozen with the contracts. */
export async function freezeOperations(): Promise<FrozenFiles> {
  const blocks = (await listOperations()).map(({ name, effect, surfaces, summary, lines }) =>
    [
      name,
      `  effect: ${effect}`,
      `  doors: ${surfaces === undefined ? "all" : surfaces.join(" ")}`,
      `  lines: ${lines === undefined ? "no" : "yes"}`,
      `  summary: ${summary}`,
    ].join("\n"),
  );
  return new Map([["operations.txt", `${blocks.join("\n\n")}\n`]]);
}

/** The hash of every published schema. `contracts/` has the texts, and git the text it had when this was frozen. */
export async function freezeContracts(): Promise<FrozenFiles> {
  const lines = [...(await generateContracts())].map(([path, text]) => `${sha256(text)}  ${path}`);
  return new Map([["contracts.txt", `${lines.join("\n")}\n`]]);
}

/** Every code with what it says, and every finding. test/pins/codes.json freezes exits and statuses once more. */
export async function freezeErrors(): Promise<FrozenFiles> {
  const codes = Object.entries(CODES).map(([code, { exit, http, says, fix }]) => {
    const words = typeof fix === "string" ? [fix] : [fix.cli, `mcp: ${fix.mcp}`, `http: ${fix.http}`];
    return `${code} ${exit} ${http}\n  says: ${says}\n  fix: ${words.join("\n    ")}`;
  });
  const findings = Object.entries(FINDINGS).flatMap(([room, list]) =>
    Object.entries(list).map(([code, says]) => `${room} ${code}\n  says: ${says}`),
  );
  return new Map([["errors.txt", `${[...codes, "", ...findings].join("\n")}\n`]]);
}

/** The configuration of a workspace without a file. */
export async function freezeConfig(): Promise<FrozenFiles> {
  return new Map([["config.json", formatJson(withPlainMaps(withDefaults({})))]]);
}

/** Maps as objects, and the keys of objects in order: nobody can see in which order defaults are filled in. */
function withPlainMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainMaps);
  if (typeof value !== "object" || value === null) return value;
  const entries = new Map<string, unknown>(value instanceof Map ? value : Object.entries(value));
  return Object.fromEntries(sortedByCodePoint(entries.keys()).map((key) => [key, withPlainMaps(entries.get(key))]));
}
