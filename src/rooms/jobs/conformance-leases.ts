import type { Candidate } from "./contracts/rows.ts";
import {
  type ClaimAnswer,
  type ClaimView,
  decideClaim,
  decideFinish,
  decideRenewal,
  type Holder,
  type LeaseRefusal,
  type StepStatus,
} from "./steps/lease.ts";

type Op = "READ" | "WRITE" | "EXECUTE";

interface Row extends Candidate {
  readonly op: Op;
  readonly lease_owner: string | null;
}

/** The lease rules over steps in memory: what every database must do. */
export class LeaseTable {
  readonly #ttl: number;
  readonly #breach: number | null;
  #rows: readonly Row[];

  constructor(ops: readonly Op[], ttl: number, breach: number | null) {
    this.#ttl = ttl;
    this.#breach = breach;
    this.#rows = ops.map((op, i) => ({
      op,
      ordinal: i + 1,
      status: "PENDING",
      lease_owner: null,
      lease_expires_ms: null,
      fencing_token: 0,
    }));
  }

  get statuses(): StepStatus[] {
    return this.#rows.map(({ status }) => status);
  }

  claim(worker: string, now: number): ClaimAnswer {
    const answer = decideClaim(this.#view(), now, this.#ttl);
    if (typeof answer === "object") {
      const { ordinal, token, expires } = answer;
      const lease = { lease_owner: worker, lease_expires_ms: expires, fencing_token: token };
      this.#change(ordinal, { status: "LEASED", ...lease });
    }
    return answer;
  }

  renew(ordinal: number, holder: Holder, now: number): { readonly expires: number } | LeaseRefusal {
    const refusal = decideRenewal(this.#row(ordinal), holder, now);
    if (refusal !== null) return refusal;
    this.#change(ordinal, { lease_expires_ms: now + this.#ttl });
    return { expires: now + this.#ttl };
  }

  finish(ordinal: number, status: "COMMITTED" | "FAILED", holder: Holder, now: number) {
    const ready = this.#rows.every((row) => row.ordinal >= ordinal || row.status === "COMMITTED");
    const refusal = decideFinish(this.#row(ordinal), ready, holder, now);
    if (refusal === null) this.#change(ordinal, { status });
    return refusal ?? status;
  }

  #view(): ClaimView {
    const open = this.#rows.filter(({ status }) => status !== "COMMITTED");
    return {
      failed: open.some(({ status }) => status === "FAILED"),
      lowest: open[0]?.ordinal ?? null,
      barrier: open.find(({ op }) => op !== "READ")?.ordinal ?? null,
      breach_ordinal: this.#breach,
      candidates: open,
    };
  }

  #row(ordinal: number): Row {
    return this.#rows[ordinal - 1]!;
  }

  #change(ordinal: number, change: Partial<Row>): void {
    this.#rows = this.#rows.map((row) => (row.ordinal === ordinal ? { ...row, ...change } : row));
  }
}
