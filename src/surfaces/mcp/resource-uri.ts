import { isHash } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import { parseRepoPath } from "../../core/paths/index.ts";
import { SLICE_EXAMPLES } from "../../core/text/index.ts";

/** What an address means. */
type ResourceAddress =
  | { readonly kind: "section"; readonly section_id: string; readonly slice: string | null }
  | { readonly kind: "symbol"; readonly symbol_id: string }
  | { readonly kind: "receipt"; readonly receipt_hash: string }
  | { readonly kind: "agents" }
  | { readonly kind: "agent"; readonly run: string }
  | { readonly kind: "workflow" | "catalytic"; readonly run: string; readonly file: string };

const MOST_CHARACTERS = 4096;
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Understands an address; RESOURCE_UNKNOWN, or PATH_REFUSED for a file that is not a safe path. */
export function parseResourceUri(uri: string): ResourceAddress {
  const parts = uri.length > MOST_CHARACTERS ? null : /^([a-z]+):\/\/([^?#]+)(?:\?([^#]*))?$/.exec(uri);
  if (parts === null) throw unknown(uri);
  const [, scheme, rest = "", query] = parts;
  const address = decode(uri, rest);
  if (scheme === "section" && isHash(address)) {
    return { kind: "section", section_id: address, slice: query === undefined ? null : readSlice(uri, query) };
  }
  if (query !== undefined) throw unknown(uri);
  if (scheme === "symbol" && address.startsWith("@")) return { kind: "symbol", symbol_id: address };
  if (scheme === "receipt" && isHash(address)) return { kind: "receipt", receipt_hash: address };
  if (scheme === "run") return readRun(uri, address);
  throw unknown(uri);
}

function readSlice(uri: string, query: string): string {
  const slice = /^slice=([^&]+)$/.exec(query)?.[1];
  if (slice === undefined) throw unknown(uri);
  return decode(uri, slice);
}

function readRun(uri: string, address: string): ResourceAddress {
  if (address === "agent") return { kind: "agents" };
  const [kind, run = "", ...file] = address.split("/");
  if (!RUN_ID.test(run) || run.endsWith(".")) throw unknown(uri);
  if (kind === "agent" && file.length === 0) return { kind, run };
  if (kind !== "workflow" && kind !== "catalytic") throw unknown(uri);
  return { kind, run, file: parseRepoPath(file.join("/")) };
}

function decode(uri: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (thrown) {
    if (thrown instanceof URIError) throw unknown(uri);
    throw thrown;
  }
}

export function unknown(uri: string): VerbatimError {
  return new VerbatimError("RESOURCE_UNKNOWN", { details: { uri: uri.slice(0, 200) } });
}

/** The templates, as they are listed; an agent in its cage does not see runs. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: "section://{section_id}{?slice}",
    name: "section",
    description: `A section: its record, or with a slice (${SLICE_EXAMPLES}) its text, charged.`,
  },
  {
    uriTemplate: "symbol://{+symbol_id}",
    name: "symbol",
    description: "The default slice of a symbol (@NAMESPACE/NAME); charged.",
  },
  {
    uriTemplate: "receipt://{receipt_hash}",
    name: "receipt",
    description: "A receipt of a job step.",
    mimeType: "application/json",
  },
  {
    uriTemplate: "run://agent",
    name: "agent runs",
    description: "The newest runs of agents in this repository, and those at work.",
    mimeType: "application/json",
  },
  {
    uriTemplate: "run://agent/{run_id}",
    name: "agent run",
    description: "The report of an agent's run: what it changed, how it was checked, and what the proof covers.",
    mimeType: "application/json",
  },
  {
    uriTemplate: "run://workflow/{run_id}/{+file}",
    name: "workflow run file",
    description: "A file of a workflow run, byte for byte.",
  },
  {
    uriTemplate: "run://catalytic/{run_id}/{file}",
    name: "catalytic run file",
    description: "An artifact of a catalytic run, byte for byte.",
  },
] as const;

/** An address with everything escaped that could be taken for another part of it. */
export function toRunUri(kind: "workflow" | "catalytic", run: string, file: string): string {
  return `run://${kind}/${run}/${file.split("/").map(encodeURIComponent).join("/")}`;
}
