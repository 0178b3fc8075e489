import { isVerbatimError, VerbatimError } from "../../core/errors/index.ts";

/** An error as every surface writes it. An unknown one says nothing about its cause to a stranger. */
export function toErrorBody(thrown: unknown): {
  readonly status: number;
  readonly body: object;
  readonly headers: Record<string, string>;
} {
  const error = isVerbatimError(thrown) ? thrown : new VerbatimError("INTERNAL", { cause: thrown });
  const details = error.details ?? null;
  const headers: Record<string, string> = {};
  if (error.code === "REQUEST_PENDING") {
    return { status: 202, body: { ...error.details }, headers: { "Retry-After": "2" } };
  }
  if (error.code === "RATE_LIMITED") headers["Retry-After"] = String(error.details?.["retry_after_s"] ?? 1);
  if (error.code === "AUTH_REQUIRED") headers["WWW-Authenticate"] = "Bearer";
  const { code, where = null } = error;
  return {
    status: error.http,
    body: { error: { code, message: error.messageAt("http"), where, fix: error.fixAt("http"), details } },
    headers,
  };
}
