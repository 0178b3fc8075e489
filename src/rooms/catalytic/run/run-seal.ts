import { GUARD_FACTS } from "../../../core/contracts/guards.ts";
import { isInside } from "../declare/path-rules.ts";
import { type OutputItem, sealOutputs } from "../outputs/outputs.ts";
import { type AnchorDiff, type AnchorState, type StagedOutputs, stageOutputs } from "../outputs/staging.ts";
import type { Layer, RunningCommand } from "../ports.ts";
import { isLookedAfter, type Layers } from "../tree/layers.ts";
import type { MemoFound } from "../tree/memo-store.ts";
import type { CommandResult, Violation } from "../verify/verdict.ts";
import { placeOf, showPlace } from "./places.ts";
import type { RunContext } from "./run-context.ts";

type Staged = StagedOutputs & { readonly changes: AnchorDiff };

const NOTHING: Staged = { entries: new Map(), not_utf8: new Set(), changes: new Map() };

interface SealFacts {
  readonly layers: Layers;
  readonly running: RunningCommand | null;
  readonly memo: MemoFound;
  readonly command: CommandResult;
  /** What was found outside the domains and outputs. */
  readonly outside: readonly Violation[];
}

interface Sealed {
  readonly outputs: readonly OutputItem[];
  readonly staged: Staged;
  /** Everything, the outside included. */
  readonly violations: readonly Violation[];
}

/** Phase 3a: outputs leave the reach of the command, are listed and judged. */
export async function sealRun(context: RunContext, facts: SealFacts): Promise<Sealed> {
  const { ports, declared, record, journal, view } = context;
  const { running, command } = facts;
  const { jobspec, policy } = declared;
  const staged = await stage(context, facts);
  const unread = view !== null && running !== null ? await view.collect(running) : [];
  const expected = command.exit_code !== null && jobspec.expected_exit_codes.includes(command.exit_code);
  const ended = expected && !command.timed_out && !command.interrupted;
  const sealed = sealOutputs(ports.crypto, jobspec.outputs.durable_paths, staged, policy.runs_root, ended);
  const violations = [...facts.outside, ...sealed.violations, ...unread];
  for (const violation of violations) record.log("VIOLATION", violation);
  record.log("OUTPUTS_SEALED", { outputs_root: sealed.outputs_root, count: sealed.outputs.length });
  journal.record("SEALED");
  record.setStatus({ status: "sealed", exit_code: command.exit_code, violations });
  return { outputs: sealed.outputs, staged, violations };
}

async function stage(context: RunContext, { layers, running, memo }: SealFacts): Promise<Staged> {
  const { ports, declared, places } = context;
  const outputs = declared.jobspec.outputs.durable_paths;
  const at = `${places.work}/stage`;
  if (memo.hit !== null) return { ...NOTHING, entries: await memo.stage(at) };
  if (running === null || outputs.length === 0) return NOTHING;
  return stageOutputs(ports, {
    outputs,
    anchors: toAnchors(context, layers, running),
    stage: at,
    made: layers.made,
    limits: declared.settings.limits,
    skip: (path) => isOthers(context, layers, path),
  });
}

/** Where each anchor is as it was and as the command left it. */
export function toAnchors(
  { places, guard }: RunContext,
  layers: Layers,
  running: RunningCommand | null,
): readonly AnchorState[] {
  const method = GUARD_FACTS[guard].restore_method;
  return layers.anchors.map((path, i) => {
    const index = layers.domains.length + i;
    const place = placeOf(places.root, path);
    if (method === "swap-back") return { path, before: layers.copyOf(index), after: place };
    const layer: Layer = { index, kind: method === "discard-upper" ? "overlay" : "copy", path: place };
    return { path, before: place, after: running?.merged(layer) ?? place };
  });
}

/** Other runs' records and this one's, the domains and their originals: someone else looks after them. */
function isOthers(context: RunContext, { domains }: Layers, path: string): boolean {
  const { record_path } = context.places;
  const own = domains.map(({ aside }) => showPlace(context.places, aside));
  if (record_path !== null) own.push(record_path);
  return isLookedAfter(path, context.declared.jobspec.catalytic_domains, own) || isRecord(context, path);
}

/** Whether a path belongs to the record of a run. */
export function isRecord({ declared, places }: RunContext, path: string): boolean {
  const record = places.record_path;
  return declared.runs.some((run) => isInside(path, run)) || (record !== null && isInside(path, record));
}
