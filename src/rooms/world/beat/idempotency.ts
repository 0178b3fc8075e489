import { assertNever } from "../../../core/errors/index.ts";

type InvocationStatus = "PENDING" | "RELEASED" | "DONE";

/** What the store keeps about one (world, request id). */
export interface InvocationRow {
  readonly body_sha256: string;
  readonly status: InvocationStatus;
  readonly fence: number;
  readonly lease_until: number;
}

type ClaimVerdict =
  | { readonly result: "NEW" | "TAKEOVER" | "RECLAIMED"; readonly row: InvocationRow }
  | { readonly result: "BODY_MISMATCH" | "IN_PROGRESS" | "REPLAY" };

/** What a claim does to a row. The caller stores the new row in the same transaction that read the old one. */
export function claim(
  row: InvocationRow | null,
  body: string,
  now: number,
  leaseMs: number,
  /** Whether the process that claimed it is known to be gone: nobody works on it any more. */
  isGone = false,
): ClaimVerdict {
  const pending = { body_sha256: body, status: "PENDING", lease_until: now + leaseMs } as const;
  if (row === null) return { result: "NEW", row: { ...pending, fence: 1 } };
  if (row.body_sha256 !== body) return { result: "BODY_MISMATCH" };
  const next = { ...pending, fence: row.fence + 1 };
  switch (row.status) {
    case "DONE":
      return { result: "REPLAY" };
    case "RELEASED":
      return { result: "RECLAIMED", row: next };
    case "PENDING":
      return now < row.lease_until && !isGone ? { result: "IN_PROGRESS" } : { result: "TAKEOVER", row: next };
    default:
      return assertNever(row.status);
  }
}

/** Whether a worker with this fence may still extend, commit or release; otherwise it is fenced and writes nothing. */
export function isHolder(row: InvocationRow | null, fence: number): row is InvocationRow {
  return row !== null && row.status === "PENDING" && row.fence === fence;
}

const CONTROL = "control/";

/** Under which id a control write with a key is kept. A request id has no slash, so none can be taken for one. */
export function toControlId(key: string): string {
  return `${CONTROL}${key}`;
}

/** Whether an id is that of a control write, which is not an invocation to anyone who asks. */
export function isControlId(id: string): boolean {
  return id.startsWith(CONTROL);
}
