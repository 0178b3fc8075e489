import { launchCapped } from "../../../adapters/guards/caps/launch-capped.ts";
import { endTree } from "../../../adapters/process/children.ts";
import { runCommand } from "../../../adapters/process/command.ts";
import { GateReports } from "../../../adapters/process/gate-reports.ts";
import { concatBytes } from "../../../core/canonical/index.ts";
import type { Caps } from "../../../core/contracts/caps.ts";
import type { CapsOutcome } from "../../../rooms/catalytic/index.ts";
import type { VerificationScript, VerificationSession } from "../../../rooms/workflow/index.ts";
import { describeHit, toReportCaps } from "../../agent/request/caps.ts";
import { gateRunner, toTimeout } from "./gate-view.ts";

interface WritesInput {
  open(): AsyncIterable<Uint8Array>;
  written(reports: GateReports): ReturnType<GateReports["written"]>;
}

/**
 * Joins its control groups, limits the size of a file, and stays above the command, as a launcher does: what is below it is
 * what counts. A shell counts in blocks of 512 bytes.
 */
const LIMITED = `set -e; ulimit -f "$1"; n=$2; shift 2
while [ "$n" -gt 0 ]; do echo 0 > "$1"; shift; n=$((n - 1)); done
set +e; "$@"; exit $?`;

/**
 * Runs gates without any guard, where there is none: a separate checkout, but the rights of the user. Their caps hold all
 * the same, by control groups where there are some and by looking where there are none.
 */
export async function openPlainly(
  input: WritesInput,
  root: string,
  wanted: Caps,
  script: VerificationScript,
  signal: AbortSignal,
): Promise<VerificationSession> {
  const reports = new GateReports(script.works, true);
  const parts: Uint8Array[] = [];
  for await (const part of input.open()) parts.push(part);
  let held: CapsOutcome = { wanted, mechanism: null, hit: null };
  const caps = {
    ...wanted,
    onHeld: (mechanism: CapsOutcome["mechanism"]) => void (held = { ...held, mechanism }),
    onHit: (hit: CapsOutcome["hit"]) => void (held = { ...held, hit }),
  };
  // Counted as under the guard that holds nothing back: as root and as an ordinary user alike.
  const running = await launchCapped({ guard: "audit" as const, work: root, caps }, async ({ limits }) => {
    const groups = limits?.groups ?? [];
    const blocks = String(Math.max(1, Math.floor((limits?.file ?? wanted.disk) / 512)));
    let pid = 0;
    const ended = runCommand({
      argv: [
        "/bin/sh",
        "-c",
        LIMITED,
        "sh",
        blocks,
        String(groups.length),
        ...groups,
        ...gateRunner(script.works, true),
      ],
      cwd: root,
      env: script.env,
      stdin: concatBytes(parts),
      timeout_ms: toTimeout(script.works),
      signal,
      onStart: (started) => {
        pid = started;
      },
    });
    return { pid, ended, end: () => endTree(pid) };
  });
  running.ended.then(
    ({ stdout, exit_code }) => {
      reports.hear(stdout);
      reports.finish(exit_code, held.hit === null ? "the gate runner ended early" : describeHit(held.hit, "they"));
    },
    (thrown: unknown) => reports.fail(thrown),
  );
  return {
    written: () => input.written(reports),
    next: () => reports.next(),
    async close() {
      await running.ended;
      const problem = held.hit === null ? reports.problem : describeHit(held.hit, "the verify commands");
      const end = { catalytic_run_id: null, ignored: null, changed_meanwhile: [] };
      return { ...end, problem, caps: toReportCaps(held) };
    },
  };
}
