import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Starting } from "../../../app/compose/compose.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isLoopback } from "./host-check.ts";
import { readAtMost, withFile } from "./private-file.ts";
import type { OpenedBy } from "./sessions.ts";

/** What was said at the start about who may come in. */
export interface AccessOptions {
  readonly host: string;
  /** Token of the owner; one is made when none is given. */
  readonly token?: string | undefined;
  /** File whose first line is the token of the owner. */
  readonly tokenFile?: string | undefined;
  /** Lets in every program of this machine as the owner. Only on loopback, and only when someone says so. */
  readonly noToken?: boolean | undefined;
  /** No agent is started through this server. */
  readonly noStart?: boolean | undefined;
}

/** What of starting agents a server lets its callers do, by the way they came. */
export function chooseStarting(
  { host, noStart = false }: AccessOptions,
  token: string | null,
  publicUrl: URL | null,
): (openedBy: OpenedBy) => Starting {
  if (noStart || token === null) return () => "off";
  // Whoever came by a link sat at the terminal of the server, where any command can be started anyway.
  const isHere = isLoopback(host) && publicUrl === null;
  return (openedBy) => (isHere && openedBy === "link" ? "typed" : "allowed");
}

// Shorter ones can be guessed by asking, and nothing slows a guesser down.
const SENDABLE = /^[\x21-\x7e]{16,512}$/;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

/** The token of the owner, given or made; null where someone chose to have none. A made one is kept in memory only. */
export function chooseToken({ host, token, tokenFile, noToken = false }: AccessOptions): string | null {
  const chosen = [token, tokenFile, noToken ? "" : undefined].filter((one) => one !== undefined);
  if (chosen.length > 1)
    throw usage("only one of --token, --token-file and --no-token can be used", "Use one of them.");
  if (noToken) {
    if (isLoopback(host)) return null;
    throw usage(
      `--no-token works only on loopback addresses, not on ${host}`,
      "Leave out --no-token, or listen on 127.0.0.1.",
    );
  }
  const given = tokenFile === undefined ? token : readToken(tokenFile);
  if (given === undefined) return makeToken();
  if (SENDABLE.test(given)) return given;
  throw usage(
    "the token must be 16 to 512 printable ASCII characters without spaces",
    "Use another token, or leave the flag out.",
  );
}

/** 192 random bits, recognisable as a token of the owner. */
export function makeToken(): string {
  return `vo_${randomBytes(24).toString("hex")}`;
}

/** The address as it is printed. Browsers never send the fragment, so the key reaches the page and nobody else. */
export function toAddress(url: string, key: string | null): string {
  return key === null ? url : `${url}#k=${encodeURIComponent(key)}`;
}

/** What whoever starts a server with an open address should know. */
export const NO_TOKEN_WARNING = "warning: no token is required, so any program on this machine can act as you";

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

const MOST_BYTES = 8192;
const TOKEN_FILE = {
  name: "the token file",
  forbidden: 0o044,
  fix: "Run chmod 600 on it, or pass the token with --token-file - instead.",
};

/** The first line of a token file. Nothing is waited for but standard input, and nothing endless is read. */
function readToken(file: string): string {
  if (file !== "-") return withFile(file, TOKEN_FILE, readFirstLine);
  try {
    return readFirstLine(0);
  } catch (cause) {
    throw new VerbatimError("FILE_UNREADABLE", { where: file, cause });
  }
}

function readFirstLine(descriptor: number): string {
  const bytes = readAtMost(descriptor, MOST_BYTES, (read) => read.includes(10));
  return bytes.toString("utf8").split(/\r?\n/, 1)[0]!;
}

function usage(message: string, fix: string): VerbatimError {
  return new VerbatimError("USAGE", { message, fix });
}
