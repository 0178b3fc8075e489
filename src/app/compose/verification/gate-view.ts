import type { GateReports } from "../../../adapters/process/gate-reports.ts";
import { GATE_RUNNER_SCRIPT, WRITES_FIRST } from "../../../adapters/process/gate-runner-script.ts";
import { type CatalyticPorts, runInView, type ViewOptions, type ViewOutcome } from "../../../rooms/catalytic/index.ts";
import {
  findKnownSecrets,
  type GateScript,
  Redactor,
  SECRET_FORMS,
  SecretFinder,
  toSecretForms,
} from "../../../rooms/workflow/index.ts";
import { describeHit } from "../../agent/request/caps.ts";
import { type Masks, NO_MASKS } from "../../agent/request/masks.ts";
import { createCatalyticPorts, toHiddenPlaces } from "../catalytic-ports.ts";
import type { Composition } from "../compose.ts";
import { GateLogFilter } from "./gate-log-filter.ts";

/** A day: the longest time a JobSpec may name. */
const LONGEST_MS = 86_400_000;
/** Beside the times of the commands themselves: starting them, and ending one that does not want to. */
const MARGIN_MS = 60_000;
/** Linux takes no single argument of 128 KiB or more, and a UTF-16 unit may take three bytes. */
const PIECE_LENGTH = 40_000;

/** Where gates run: everything about a view but what runs in it. */
export interface GateViewPlace
  extends Omit<ViewOptions, "command" | "intent" | "hidden" | "masked" | "shown" | "extra_env" | "timeout_ms"> {
  /** Secrets that are hidden besides what always is. */
  readonly masks?: Omit<Masks, "isHidden" | "names">;
}

/** What runs there. VERBATIM_RUN of the environment is told to every gate. */
interface GateViewScript {
  readonly works: GateScript["works"];
  readonly env: Readonly<Record<string, string>>;
  readonly intent: string;
}

/** Starts the gate runner in a view; what it reports is there as soon as it is said. */
export function openGateView(
  composition: Composition,
  { masks = NO_MASKS, ...place }: GateViewPlace,
  script: GateViewScript,
  reports: GateReports,
  signal: AbortSignal,
): Promise<ViewOutcome> {
  const { VERBATIM_RUN: run = "", ...env } = script.env;
  const forms = [...SECRET_FORMS, ...toSecretForms(composition.config().agent.redact.patterns)];
  const finder = new SecretFinder(findKnownSecrets(composition.env, masks.values), forms);
  const ports: CatalyticPorts = {
    ...createCatalyticPorts(composition),
    env,
    interrupts: { listen: (onSignal) => listen(signal, onSignal) },
    notify: (text) => composition.notify(`verify: ${text}`),
    redact: (stream) => (stream === "stdout" ? new GateLogFilter(finder) : new Redactor(finder)),
    // The report about a candidate says where its commands ran.
    ...(place.input === undefined ? {} : { announceGuard: () => undefined }),
    onOutput: (stream, bytes) => {
      if (stream === "stdout") reports.hear(bytes);
    },
  };
  const running = runInView(ports, {
    ...place,
    // Gates run code that an agent wrote.
    hidden: [...toHiddenPlaces(composition), ...masks.hidden],
    masked: masks.files,
    shown: masks.shown,
    command: gateRunner(script.works, place.input !== undefined),
    intent: script.intent,
    extra_env: { VERBATIM_RUN: run },
    timeout_ms: toTimeout(script.works),
  });
  // Whoever asks for a gate hears of it; who closes the session asks again.
  running.then(
    ({ run: ended, caps }) => {
      const why = caps?.hit == null ? `the gate runner ended early: ${ended.message}` : describeHit(caps.hit, "they");
      reports.finish(ended.exit_code, why);
    },
    (thrown: unknown) => reports.fail(thrown),
  );
  return running;
}

/** Why nothing that gates said in a view can be believed; null when its proof holds. */
export function describeProblem({ run, caps }: ViewOutcome, reports: GateReports): string | null {
  if (caps?.hit != null) return describeHit(caps.hit, "the verify commands");
  return run.accepted ? reports.problem : `catalytic run ${run.run_id}: ${run.condition}: ${run.message}`;
}

/** The command of a gate runner; `writes`: it reads a list of writes first. The work is in pieces that the system takes. */
export function gateRunner(works: GateScript["works"], writes: boolean): string[] {
  const text = JSON.stringify(works);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE_LENGTH) pieces.push(text.slice(at, at + PIECE_LENGTH));
  const first = writes ? [WRITES_FIRST] : [];
  return [process.execPath, "--input-type=commonjs", "-e", GATE_RUNNER_SCRIPT, "--", ...first, ...pieces];
}

/** Enough for every command to use up its own time. */
export function toTimeout(works: GateScript["works"]): number {
  const seconds = works.flatMap(({ commands }) => commands).reduce((sum, { timeout_s }) => sum + timeout_s + 6, 0);
  return Math.min(seconds * 1000 + MARGIN_MS, LONGEST_MS);
}

/** An abort reaches the run as the signal that ends it. */
function listen(signal: AbortSignal, onSignal: (name: "SIGTERM") => void): () => void {
  const onAbort = () => onSignal("SIGTERM");
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  return () => signal.removeEventListener("abort", onAbort);
}
