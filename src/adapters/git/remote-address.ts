import { VerbatimError } from "../../core/errors/index.ts";

// Control characters and blanks: an address with one is not what somebody typed.
const BAD_TEXT = /[\u0000-\u0020\u007f]/;
const HOST = "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?";
const USER = "[A-Za-z0-9_][A-Za-z0-9_.-]*";
const HTTPS = new RegExp(`^https://${HOST}(?::[0-9]{1,5})?/[^-].*$`);
const SSH = new RegExp(`^ssh://(?:${USER}@)?${HOST}(?::[0-9]{1,5})?/[^-].*$`);
const SCP = new RegExp(`^(?:${USER}@)?${HOST}:(?![-/]?/)[^-:].*$`);
const PATH = /^\/[^/]/;

/** A remote that git may talk to, and the transports it may use for that. */
export interface RemoteAddress {
  readonly address: string;
  /** Value of GIT_ALLOW_PROTOCOL. */
  readonly protocols: string;
}

/**
 * The address of a git remote: https, ssh, or an absolute path where that is allowed. REMOTE_INVALID for everything
 * else: options, helpers such as `ext::`, addresses with a password.
 *
 * @example
 * parseRemote("git@git.example.org:team/harbour.git", false).protocols; // => "https:ssh"
 */
export function parseRemote(address: string, allowPath: boolean): RemoteAddress {
  const isNetwork = HTTPS.test(address) || SSH.test(address) || (!address.includes("::") && SCP.test(address));
  const isPath = allowPath && PATH.test(address);
  if (BAD_TEXT.test(address) || !(isNetwork || isPath)) {
    throw new VerbatimError("REMOTE_INVALID", { details: { remote: withoutPassword(address) } });
  }
  return { address, protocols: allowPath ? "https:ssh:file" : "https:ssh" };
}

/** An address as it may be shown. */
function withoutPassword(address: string): string {
  return address.replace(/\/\/[^/@]*@/, "//***@").slice(0, 300);
}
