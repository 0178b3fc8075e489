import { z } from "zod";
import { defineOperation, OWNER, type Surface } from "../../../core/operation.ts";
import type { AgentPorts } from "../ports.ts";
import { agentDiff, readDiffPage } from "../report/change-pages.ts";
import { fileLines, readFileLines } from "../report/file-lines.ts";
import {
  listArtifacts,
  RECORDED,
  readArtifact,
  readOutput,
  recordedBytes,
  recordedFiles,
} from "../report/run-bytes.ts";
import { withCallSignal } from "../report/show.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";

/** For screens; whoever types has `agent show --diff` and `agent logs`. */
const SCREENS: readonly Surface[] = ["http", "library"];

const run = z.string().min(1).max(200).describe("Run id, a unique beginning or the last six digits of one, @ or @2.");
const candidate = z.int().min(1).optional().describe("The number of a candidate (default: the current one).");
const from = z.int().min(0).default(0);

const diff = defineOperation({
  name: "agent.diff",
  summary: "The change of an agent run by file, hunk and line, in pages.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({
    run,
    candidate,
    file: z.string().min(1).optional().describe("Only this file, or what is below this folder."),
    after: z.string().max(40).optional().describe("The next of the page before."),
    limit: z.int().min(1).max(5000).default(5000).describe("Maximum number of lines."),
  }),
  output: agentDiff,
  run: async (outside: AgentPorts, { run: name, ...request }) =>
    readDiffPage(await findAgentRun(outside, await outside.workflow("read"), name), request),
});

const lines = defineOperation({
  name: "agent.file-lines",
  summary: "Lines of a file as an agent found it or as its change leaves it, at most 500.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({
    run,
    candidate,
    path: z.string().min(1),
    side: z.enum(["base", "result"]).default("base"),
    from: z.int().min(1).describe("First line, from 1."),
    to: z.int().min(1).describe("Last line."),
  }),
  output: fileLines,
  run: async (outside: AgentPorts, { run: name, ...request }) =>
    readFileLines(outside, await findAgentRun(outside, await outside.workflow("read"), name), request),
});

const output = defineOperation({
  name: "agent.output",
  summary:
    "Bytes that an attempt or a verification printed, from the recorded file; waits for more while it is at work.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({
    run,
    of: z.enum(RECORDED).default("output"),
    n: z.int().min(1).optional().describe("Number of the attempt or verification (default: the newest)."),
    from,
    wait: z.int().min(0).max(20).default(0).describe("Seconds to wait for the first byte."),
  }),
  output: recordedBytes,
  run: (outside: AgentPorts, { run: name, ...request }) =>
    withCallSignal(outside, async (signal) =>
      readOutput(outside, await findAgentRun(outside, await outside.workflow("read"), name), request, signal),
    ),
});

const artifact = defineOperation({
  name: "agent.artifact",
  summary: "Bytes of one file of the record of an agent run.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({ run, path: z.string().min(1).max(500), from }),
  output: recordedBytes,
  run: async (outside: AgentPorts, { run: name, path, from: first }) =>
    readArtifact(outside, await findAgentRun(outside, await outside.workflow("read"), name), path, first),
});

const artifacts = defineOperation({
  name: "agent.artifacts",
  summary: "Lists the files of the record of an agent run.",
  effect: "read",
  who: OWNER,
  surfaces: SCREENS,
  input: z.strictObject({ run }),
  output: recordedFiles,
  run: async (outside: AgentPorts, { run: name }) =>
    listArtifacts(outside, await findAgentRun(outside, await outside.workflow("read"), name)),
});

/** What a screen asks for and nobody types. */
export const SCREEN_OPERATIONS = [diff, lines, output, artifact, artifacts] as const;
