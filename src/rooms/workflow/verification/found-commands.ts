import { z } from "zod";
import { decodeUtf8, isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import table from "./found-commands.json" with { type: "json" };

const name = z.string().min(1);

const foundTable = z.strictObject({
  schema_version: z.literal("verbatim-found-commands-v1"),
  commands: z.array(
    z.strictObject({
      file: name,
      /** A script of package.json that someone wrote. */
      member: name.optional(),
      /** How a line of the file begins. */
      line: name.optional(),
      beside: name.optional(),
      command: name,
    }),
  ),
});

const ROWS = foundTable.parse(table).commands;

/** What npm writes into a new package.json. */
const NO_SCRIPT = "no test specified";

export interface FoundCommand {
  readonly command: string;
  /** The file that names it. */
  readonly file: string;
}

export interface RepositoryFacts {
  isThere(path: string): boolean;
  read(path: string): Uint8Array | null;
}

/** The test commands that a repository has already, likeliest first, one for each file that names one. */
export function findVerifyCommands({ isThere, read }: RepositoryFacts): readonly FoundCommand[] {
  const found: FoundCommand[] = [];
  for (const { file, member, line, beside, command } of ROWS) {
    if (found.some((one) => one.file === file || one.command === command)) continue;
    if (!isThere(file) || (beside !== undefined && !isThere(beside))) continue;
    const bytes = member === undefined && line === undefined ? null : read(file);
    if (member !== undefined && !hasScript(bytes, member)) continue;
    if (line !== undefined && !hasLine(bytes, line)) continue;
    found.push({ command, file });
  }
  return found;
}

/** The refusal of a run that could not be verified, with what was found in the repository. */
export function verifyNotConfigured(found: readonly FoundCommand[]): VerbatimError {
  const [first] = found;
  const fix =
    first === undefined
      ? 'Use --verify "COMMAND", or --no-verify.'
      : {
          cli: `found in ${first.file}: --verify "${first.command}" (or --no-verify)`,
          others: `Name a verify command; ${first.file} suggests: ${first.command}`,
        };
  return new VerbatimError("VERIFY_NOT_CONFIGURED", {
    message: "nothing says how to verify a change",
    fix,
    details: { found: found.map(({ command, file }) => ({ command, file })) },
  });
}

function hasScript(bytes: Uint8Array | null, script: string): boolean {
  try {
    const value = bytes === null ? null : parseJson(bytes);
    const scripts = isJsonObject(value) ? value["scripts"] : null;
    const text = isJsonObject(scripts) ? scripts[script] : null;
    return typeof text === "string" && text !== "" && !text.includes(NO_SCRIPT);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return false;
    throw thrown;
  }
}

function hasLine(bytes: Uint8Array | null, begin: string): boolean {
  const text = bytes === null ? null : decodeUtf8(bytes);
  return text?.split("\n").some((line) => line.startsWith(begin)) === true;
}
