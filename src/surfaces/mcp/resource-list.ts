import type { App } from "../../app/call.ts";
import type { Input, Output } from "../../app/operations.ts";
import { compareCodePoints } from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { refused } from "./cursor.ts";
import { toRunUri } from "./resource-uri.ts";

/** A resource as it is listed, and where its part of the list goes on after it. */
export interface ListedResource {
  readonly after: string;
  readonly resource: {
    readonly uri: string;
    readonly name: string;
    readonly mimeType?: string;
    readonly description?: string;
    readonly size?: number;
  };
}

type Part = (app: App, after: string | null) => AsyncGenerator<ListedResource>;

const BATCH = 100;

/** The parts of the list, in order. Each goes on after any of its items, at the cost of what is still listed. */
export const LIST_PARTS: Readonly<Record<string, Part>> = {
  symbols: listSymbols,
  agents: listAgentRuns,
  workflow: listWorkflowFiles,
  catalytic: listCatalyticFiles,
  receipts: listReceipts,
  sections: listSections,
};

/** Parts about runs. An agent in its cage sees no run, neither others nor its own: their folders are hidden from it too. */
export const RUN_PARTS: readonly string[] = ["agents", "workflow", "catalytic"];

async function* listSymbols(app: App, after: string | null): AsyncGenerator<ListedResource> {
  const symbols = await app.call("context.symbol-list", {});
  for (const { symbol_id, target_ref, default_slice_policy } of symbols) {
    if (after !== null && compareCodePoints(symbol_id, after) <= 0) continue;
    const description = `${default_slice_policy} of ${target_ref}`;
    yield { after: symbol_id, resource: { uri: `symbol://${symbol_id}`, name: symbol_id, description } };
  }
}

/** The list itself, then the runs, newest first; a place in it is the page of the operation and a run on that page. */
async function* listAgentRuns(app: App, after: string | null): AsyncGenerator<ListedResource> {
  const space = after?.indexOf(" ") ?? -1;
  let page = after === null || space <= 0 ? undefined : after.slice(0, space);
  let last: string | null = after === null ? null : after.slice(space + 1);
  for (;;) {
    const { runs, next } = await app.call("agent.list", {
      limit: BATCH,
      ...(page === undefined ? {} : { after: page }),
    });
    if (after === null && page === undefined && runs.length > 0) {
      yield { after: " ", resource: { uri: "run://agent", name: "agent runs", mimeType: "application/json" } };
    }
    const from = last === null || last === "" ? 0 : runs.findIndex(({ run_id }) => run_id === last) + 1;
    for (const { run_id, goal, outcome } of runs.slice(from)) {
      const resource = { uri: `run://agent/${run_id}`, name: run_id, description: `${outcome}: ${goal.slice(0, 80)}` };
      yield { after: `${page ?? ""} ${run_id}`, resource: { ...resource, mimeType: "application/json" } };
    }
    if (next === null) return;
    page = next;
    last = null;
  }
}

async function* listWorkflowFiles(app: App, after: string | null): AsyncGenerator<ListedResource> {
  const [run, path] = splitAfter(after);
  const { runs } = await app.call("workflow.list", { all: true });
  for (const { run_id } of runs) {
    if (run !== null && compareCodePoints(run_id, run) < 0) continue;
    const { files } = await app.call("workflow.show", { run: run_id });
    for (const { path: file, bytes } of files) {
      if (run_id === run && compareCodePoints(file, path) <= 0) continue;
      const uri = toRunUri("workflow", run_id, file);
      yield { after: `${run_id}/${file}`, resource: { uri, name: `${run_id}/${file}`, size: bytes } };
    }
  }
}

const MOST_RUNS = 10_000;

async function* listCatalyticFiles(app: App, after: string | null): AsyncGenerator<ListedResource> {
  const [run, name] = splitAfter(after);
  const { runs } = await app.call("catalytic.list", { limit: MOST_RUNS });
  // Newest first: runs that came since the list began stand before the place where it goes on.
  const from = run === null ? 0 : runs.findIndex(({ run_id }) => run_id === run);
  if (from === -1) throw refused();
  for (const { run_id, proof_hash, status } of runs.slice(from)) {
    for (const file of proof_hash === null ? ["STATUS.json"] : ["PROOF.json", "STATUS.json"]) {
      if (run_id === run && compareCodePoints(file, name) <= 0) continue;
      const uri = toRunUri("catalytic", run_id, file);
      const shown = { uri, name: `${run_id}/${file}`, description: status, mimeType: "application/json" };
      yield { after: `${run_id}/${file}`, resource: shown };
    }
  }
}

/** The run and the file of a place in a list of run files. */
function splitAfter(after: string | null): readonly [string | null, string] {
  if (after === null) return [null, ""];
  const slash = after.indexOf("/");
  return [after.slice(0, slash), after.slice(slash + 1)];
}

async function* listReceipts(app: App, place: string | null): AsyncGenerator<ListedResource> {
  const [job, ordinal] = place === null ? [0, 0] : place.split("/").map(Number);
  // The job in which the last page ended may have more.
  let after = Math.max(0, (job ?? 0) - 1);
  for (;;) {
    const page = await app.call("jobs.list", { after, limit: BATCH });
    for (const { number, job_id } of page.jobs) {
      after = number;
      const { receipts } = await app.call("jobs.receipts", { job_id, after: number === job ? ordinal : 0 });
      for (const one of receipts) {
        const name = `${job_id} step ${one.ordinal}`;
        const resource = { uri: `receipt://${one.receipt_hash}`, name, mimeType: "application/json" };
        yield { after: `${number}/${one.ordinal}`, resource };
      }
    }
    if (!page.more) return;
  }
}

async function* listSections(app: App, after: string | null): AsyncGenerator<ListedResource> {
  const colon = after?.indexOf(":") ?? -1;
  let from = after?.slice(colon + 1);
  let skip = after === null ? 0 : Number(after.slice(0, colon)) + 1;
  for (;;) {
    const sections = await readSections(app, { ...(from === undefined ? {} : { from }), skip, limit: BATCH });
    for (const { section_id, file_path, heading_path, lines, bytes } of sections) {
      if (file_path !== from) {
        from = file_path;
        skip = 0;
      }
      const name = [file_path, ...heading_path].join(" > ");
      const description = `${lines} lines, ${bytes} bytes`;
      yield {
        after: `${skip}:${file_path}`,
        resource: { uri: `section://${section_id}`, name, description, mimeType: "application/json" },
      };
      skip++;
    }
    if (sections.length < BATCH) return;
  }
}

/** No index, no sections: what an empty workspace has to list is nothing. */
async function readSections(app: App, input: Input<"context.section-list">): Promise<Output<"context.section-list">> {
  try {
    return await app.call("context.section-list", input);
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code === "INDEX_MISSING") return [];
    throw thrown;
  }
}
