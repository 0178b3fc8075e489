import type { App } from "../../app/call.ts";
import type { CallOptions } from "../../app/compose/compose.ts";
import type { Input, Output } from "../../app/operations.ts";
import { decodeUtf8 } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import type { Answers } from "./answer.ts";
import { parseResourceUri, unknown } from "./resource-uri.ts";

/** What reading a resource gives. */
interface ResourceContents {
  [key: string]: unknown;
  readonly contents: ({ uri: string; mimeType: string; _meta?: Record<string, unknown> } & (
    | { text: string }
    | { blob: string }
  ))[];
}

type Expanded = Output<"context.expand">;

/** Reads a resource. Text of the corpus is an expansion: charged, recorded, and refused before that if it is too long. */
export async function readResource(
  app: App,
  uri: string,
  answers: Answers,
  options: CallOptions & { readonly caged: boolean },
): Promise<ResourceContents> {
  const address = parseResourceUri(uri);
  if (options.caged && RUN_KINDS.includes(address.kind)) throw unknown(uri);
  switch (address.kind) {
    case "section": {
      const { section_id, slice } = address;
      if (slice !== null) return await expand(app, uri, { refs: [section_id], slice }, answers, options);
      return answers.carry(toJson(uri, await app.call("context.section-show", { section_id }, options)));
    }
    case "symbol":
      return await expand(app, uri, { refs: [address.symbol_id] }, answers, options);
    case "receipt": {
      const { receipt_hash } = address;
      return answers.carry(toJson(uri, await app.call("jobs.receipt", { receipt_hash }, options)));
    }
    case "agents": {
      const { runs, total, working } = await app.call("agent.list", { limit: MOST_RUNS }, options);
      return answers.carry(toJson(uri, { runs: runs.map(toListed), total, working: working.map(toListed) }));
    }
    case "agent":
      return answers.carry(toJson(uri, await readAgentRun(app, address.run, options)));
    case "workflow":
      return answers.carry(toFile(uri, await readWorkflowFile(app, address.run, address.file)));
    case "catalytic":
      return answers.carry(toFile(uri, await readCatalyticFile(app, address.run, address.file)));
  }
}

const RUN_KINDS: readonly string[] = ["agents", "agent", "workflow", "catalytic"];

const MOST_RUNS = 20;

/** A run as a list shows it, with its address and without the folders of this machine. */
function toListed<T extends { readonly run_id: string; readonly run_dir: string; readonly root: string }>(run: T) {
  const { run_dir: _, root: __, ...shown } = run;
  return { uri: `run://agent/${run.run_id}`, ...shown };
}

/** The report of exactly this run. What a person could type is left out: nobody reads it here who has a terminal. */
async function readAgentRun(app: App, run: string, options: CallOptions) {
  const { summary, explain } = await app.call("agent.show", { run }, options);
  if (summary.run_id !== run) throw new VerbatimError("RUN_NOT_FOUND", { where: run });
  const report = explain.map((part) => ({ ...part, lines: part.lines.filter(({ command }) => command === undefined) }));
  return { summary, report };
}

async function expand(
  app: App,
  uri: string,
  input: Input<"context.expand">,
  answers: Answers,
  options: CallOptions,
): Promise<ResourceContents> {
  const assertDeliverable = (output: unknown): void => void answers.carry(toText(uri, output as Expanded));
  return answers.carry(toText(uri, await app.call("context.expand", input, { ...options, assertDeliverable })));
}

function toText(uri: string, { expansions }: Expanded): ResourceContents {
  const { expansion, section, content } = expansions[0]!;
  const mimeType = /\.(?:md|markdown)$/i.test(section.file_path) ? "text/markdown" : "text/plain";
  return { contents: [{ uri, mimeType, text: content, _meta: { "verbatim/expansion": expansion } }] };
}

function toJson(uri: string, value: unknown): ResourceContents {
  return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(value) }] };
}

function toFile(uri: string, bytes: Uint8Array): ResourceContents {
  const text = decodeUtf8(bytes);
  if (text === null) {
    return { contents: [{ uri, mimeType: "application/octet-stream", blob: Buffer.from(bytes).toString("base64") }] };
  }
  return { contents: [{ uri, mimeType: uri.endsWith(".json") ? "application/json" : "text/plain", text }] };
}

/** Exactly the file that was asked for: the operation itself also takes the beginning of a run and shorter names. */
async function readWorkflowFile(app: App, run: string, file: string): Promise<Uint8Array> {
  const shown = await app.call("workflow.show", { run, artifact: file });
  if (shown.run_id !== run || shown.artifact?.path !== file)
    throw new VerbatimError("ARTIFACT_UNKNOWN", { where: file });
  const { text } = shown.artifact;
  if (text === null) throw new VerbatimError("FILE_UNREADABLE", { message: "the file is not UTF-8", where: file });
  return new TextEncoder().encode(text);
}

async function readCatalyticFile(app: App, run: string, file: string): Promise<Uint8Array> {
  const shown = await app.call("catalytic.show", { run, artifact: file });
  return Buffer.from(shown.artifact_base64 ?? "", "base64");
}
