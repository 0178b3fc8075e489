import { isVerbatimError } from "../../../core/errors/index.ts";
import { WORLD_RECORDS } from "../contracts/records.ts";
import { streamOf } from "../history/state.ts";
import type { Metrics } from "../operations/metrics.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { type InvocationLease, releaseLease } from "./claims.ts";
import type { ValidInvocation } from "./invocation.ts";

/** Refusals between claim and writer. */
const RECEIPTED: ReadonlySet<string> = new Set([
  "TIME_NOT_MONOTONIC",
  "TIME_LOCAL_NONEXISTENT",
  "TIME_LOCAL_AMBIGUOUS",
  "TIME_OUT_OF_RANGE",
  "PERSON_NOT_PRESENT",
  "INPUT_EXCEEDS_CONTEXT",
  "REHYDRATION_FAILED",
]);

/** Lets go of what failed beats hold. */
export class Releases {
  readonly #ports: WorldPorts;
  readonly #metrics: Metrics;
  /** Claims and locks that could not be let go because the store took no writes. */
  #owed: InvocationLease[] = [];

  constructor(ports: WorldPorts, metrics: Metrics) {
    this.#ports = ports;
    this.#metrics = metrics;
  }

  /** Releases a failed beat; a refusal of the contract leaves a receipt without any text. */
  async letGo(
    lease: InvocationLease,
    { world_id, envelope, body_sha256 }: ValidInvocation,
    thrown: unknown,
  ): Promise<void> {
    try {
      await releaseLease(this.#ports, lease);
    } catch {
      // What made the beat fail is told to the caller; the claim is let go as soon as the store writes again.
      this.#owed.push(lease);
      return;
    }
    if (isVerbatimError(thrown) && thrown.code === "REHYDRATION_FAILED") {
      this.#metrics.count("rehydrations_total", { name: "result", value: "failed" });
    }
    if (!isVerbatimError(thrown) || !RECEIPTED.has(thrown.code)) return;
    const { request_id } = envelope;
    const body = { request_id, body_sha256, code: thrown.code, where: thrown.where ?? null };
    await this.#ports.store.transact(async (tx) => {
      await tx.ledger.append(streamOf(world_id), "next", [
        WORLD_RECORDS.make("WORLD_REFUSED", this.#ports.actor, body),
      ]);
    });
  }

  /** Lets go of what a store that took no writes has kept; a claim that someone took over meanwhile is left alone. */
  async settle(): Promise<void> {
    const owed = this.#owed;
    this.#owed = [];
    for (const [i, lease] of owed.entries()) {
      await releaseLease(this.#ports, lease).catch((thrown: unknown) => {
        this.#owed.push(...owed.slice(i));
        throw thrown;
      });
    }
  }
}
