import { BUILT_IN_GATES, type Plan } from "../../artifacts/plan.ts";
import type { GateCommand, GateWork } from "../../ports.ts";
import type { Run } from "../run.ts";
import { listCopyEvidence } from "./verify-gates.ts";

/** What commands of the set-up are called in a report. */
const SETUP = "setup";

/** The product's own gates, judged by the product. */
type BuiltInGate = (typeof BUILT_IN_GATES)[number];

export function isBuiltInGate(gate: string): gate is BuiltInGate {
  return (BUILT_IN_GATES as readonly string[]).includes(gate);
}

/** Everything a verification does in the isolated copy, in order: the set-up, then every gate of the plan. */
export function writeScript(run: Run, plan: Plan): GateWork[] {
  const { setup } = run.ports.config.verify;
  const works: GateWork[] = setup.length === 0 ? [] : [{ gate: SETUP, commands: setup, looks: [] }];
  for (const gate of new Set(plan.gates)) {
    const looks = gate === "plan_check" ? listCopyEvidence(run).map(({ path }) => path) : [];
    works.push({ gate, commands: isBuiltInGate(gate) ? [] : (findCommands(run, gate) ?? []), looks });
  }
  return works;
}

/** The commands of a gate that is not built in; null when nothing is configured for it. */
export function findCommands(run: Run, gate: string): readonly GateCommand[] | null {
  const own = gate === "lite" ? run.state.direct?.verify : null;
  if (own != null) return own.map((argv) => ({ argv: [...argv], timeout_s: 1800, cwd: "." }));
  return run.ports.config.verify.gates.get(gate) ?? null;
}
