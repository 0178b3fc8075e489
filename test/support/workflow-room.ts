import { openApp } from "../../src/app/call.ts";
import { compose } from "../../src/app/compose/compose.ts";
import { workflowPorts } from "../../src/app/compose/workflow.ts";
import type { WorkflowPorts } from "../../src/rooms/workflow/operations/ports.ts";
import type { SampleRepository } from "./sample-repository.ts";

/** The ports of the workflow room over a sample repository, real but for what a test puts in their place. */
export async function openWorkflow(
  repository: SampleRepository,
  change: (ports: WorkflowPorts) => Partial<WorkflowPorts> = () => ({}),
): Promise<{ readonly ports: WorkflowPorts; close(): Promise<void> }> {
  const options = {
    surface: "library",
    start: repository.root,
    env: repository.env,
    platform: process.platform,
  } as const;
  const composition = compose(options, () => openApp(options));
  const real = await workflowPorts(composition, "mutate");
  return { ports: { ...real, ...change(real) }, close: () => composition.close() };
}
