import { z } from "zod";
import { formatCanonical, toJson } from "../../../core/canonical/index.ts";
import { parseContract } from "../../../core/contracts/index.ts";
import { AGENT_TRACE, AgentRecord } from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { findAgentRun } from "../runs/find-agent-run.ts";
import { requireSecond } from "../runs/work-tree.ts";
import { findSecrets } from "../work/redact.ts";
import { buildTrace } from "./trace.ts";
import { buildTranscript } from "./transcript.ts";

export const EXPORT_FORMATS = ["agent-trace", "transcript"] as const;

const MEDIA_TYPES = {
  "agent-trace": "application/vnd.agent-trace.record+json",
  transcript: "application/json",
} as const;

export const exported = z.strictObject({
  run_id: z.string(),
  format: z.enum(EXPORT_FORMATS),
  media_type: z.string(),
  text: z.string().nullable().describe("The document; null where it was written to a file."),
  out: z.string().nullable(),
});

interface ExportRequest {
  readonly format: (typeof EXPORT_FORMATS)[number];
  /** Whether what people and agents said is in it, word for word. */
  readonly content: boolean;
  readonly out: string | null;
}

/** What a run says of itself in a form that other tools read. EXPORT_EMPTY, FILE_EXISTS. */
export async function exportAgentRun(
  outside: AgentPorts,
  name: string,
  { format, content, out }: ExportRequest,
): Promise<z.infer<typeof exported>> {
  const run = await findAgentRun(outside, await outside.workflow("read"), name);
  requireSecond(run);
  const record = AgentRecord.load(run)!;
  const masks = outside.masks({ unmask: [], all: false, profile: null, kept: [], seen: [] }, null);
  const discretion = { masks, finder: findSecrets(outside, masks.values) };
  const document =
    format === "agent-trace"
      ? parseContract(AGENT_TRACE, toJson(buildTrace(outside, record, discretion, content)))
      : toJson(buildTranscript(record, discretion, content));
  const text = `${formatCanonical(document)}\n`;
  if (out !== null) await run.ports.files.create(out, new TextEncoder().encode(text));
  return { run_id: run.id, format, media_type: MEDIA_TYPES[format], text: out === null ? text : null, out };
}
