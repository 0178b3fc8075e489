import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { VerbatimError } from "../../core/errors/index.ts";
import { isLoopback } from "./host-check.ts";

/** What was said at the start about who may come in. */
export interface AccessOptions {
  readonly host: string;
  /** Token of the owner; one is made when none is given. */
  readonly token?: string | undefined;
  /** File whose first line is the token of the owner. */
  readonly tokenFile?: string | undefined;
  /** Lets in every program of this machine as the owner. Only on loopback, and only when somebody says so. */
  readonly noToken?: boolean | undefined;
}

const SENDABLE = /^[\x21-\x7e]{1,512}$/;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** The token of the owner, given or made; null where somebody chose to have none. A made one is kept in memory only. */
export function chooseToken({ host, token, tokenFile, noToken = false }: AccessOptions): string | null {
  const chosen = [token, tokenFile, noToken ? "" : undefined].filter((one) => one !== undefined);
  if (chosen.length > 1) throw usage("--token, --token-file and --no-token exclude each other", "Choose one of them.");
  if (noToken) {
    if (isLoopback(host)) return null;
    throw usage(`--no-token is for loopback only, not for ${host}`, "Leave out --no-token, or listen on 127.0.0.1.");
  }
  const given = tokenFile === undefined ? token : readToken(tokenFile);
  if (given === undefined) return makeToken();
  if (SENDABLE.test(given)) return given;
  throw usage("the token is not 1 to 512 printable ASCII characters without spaces", "Give another one, or none.");
}

/** 192 random bits, recognisable as a token of the owner. */
export function makeToken(): string {
  return `vo_${randomBytes(24).toString("hex")}`;
}

/** The address as it is printed. Browsers never send the fragment, so the token reaches the page and nobody else. */
export function toAddress(url: string, token: string | null): string {
  return token === null ? url : `${url}#k=${encodeURIComponent(token)}`;
}

/** What whoever starts a server should know about its token. */
export function describeAccess(token: string | null): string {
  return token === null
    ? "warning: no token is needed, so any program on this machine can act as you"
    : "programs send what follows #k= as Authorization: Bearer TOKEN";
}

/** The token of a request, or undefined where it carries none that could be one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

/** Whether a token is the right one, in the same time for every wrong one. */
export function isSameToken(given: string | undefined, right: string): boolean {
  return given !== undefined && timingSafeEqual(hashToken(given), hashToken(right));
}

export function hashToken(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function readToken(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8").split(/\r?\n/, 1)[0]!;
  } catch (cause) {
    throw new VerbatimError("FILE_UNREADABLE", { where: file, cause });
  }
}

function usage(message: string, fix: string): VerbatimError {
  return new VerbatimError("USAGE", { message, fix });
}
