import type { VerificationReport } from "./report.ts";
import type { SetupStep } from "./setups.ts";

const SHOWN = 3;

/**
 * What a candidate was verified on, for the first line of a report: "on your tree with its ignored files (node_modules)".
 * `lacks` is what would have to be installed on a checkout and was not.
 */
export function describeBase(
  { kind, ignored }: VerificationReport["base"],
  lacks: readonly Pick<SetupStep, "argv" | "why">[] = [],
): string {
  switch (kind) {
    case "view":
      return `on your tree with its ignored files${listFolders(ignored.folders)}`;
    case "copy":
      return `on a copy of your tree with its ignored files${listFolders(ignored.folders)}`;
    case "checkout": {
      const [first] = lacks;
      const missing = /^(.*) is missing$/.exec(first?.why ?? "")?.[1];
      const hint =
        first === undefined || missing === undefined
          ? ""
          : ` (${missing} is missing there; --setup "${first.argv.join(" ")}")`;
      return `on a clean checkout without ignored files${hint}`;
    }
  }
}

function listFolders(folders: readonly string[]): string {
  if (folders.length === 0) return "";
  const more = folders.length > SHOWN ? `, and ${folders.length - SHOWN} more` : "";
  return ` (${folders.slice(0, SHOWN).join(", ")}${more})`;
}
