import { createSecureContext } from "node:tls";
import { VerbatimError } from "../../../core/errors/index.ts";
import { isLoopback } from "./host-check.ts";
import { readAtMost, withFile } from "./private-file.ts";

/** What was said at the start about how the server is reached. */
export interface TransportOptions {
  readonly host: string;
  /** Files with a certificate chain and its key, in PEM; both or neither. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** The address under which people come, where it is not the one that is listened on. */
  readonly publicUrl?: string | undefined;
  /** Somebody said that others may read along. */
  readonly insecureHttp?: boolean | undefined;
}

export interface Transport {
  /** Null: plain HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly publicUrl: URL | null;
  /** What whoever starts it must know; null where nobody can read along. */
  readonly warning: string | null;
}

const INSECURE_WARNING =
  "warning: plain HTTP; everyone on the network between can read the token and whatever the page shows";

const MOST_PEM = 1024 * 1024;

/**
 * How the server is reached. Off loopback it speaks TLS, stands behind a proxy that does, or does not start: the token and all
 * that is read would travel in the clear. Only somebody who says so gets that.
 */
export function chooseTransport(options: TransportOptions): Transport {
  const { host, insecureHttp = false } = options;
  const publicUrl = options.publicUrl === undefined ? null : readPublicUrl(options.publicUrl);
  const tls = readTls(options);
  const isPlain = publicUrl === null ? tls === null && !isLoopback(host) : publicUrl.protocol === "http:";
  if (isPlain && !insecureHttp) throw new VerbatimError("PLAIN_HTTP_REFUSED", { where: publicUrl?.href ?? host });
  return { tls, publicUrl, warning: isPlain ? INSECURE_WARNING : null };
}

/** An origin, and nothing else: what comes behind it belongs to the pages. */
function readPublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  if (isOrigin) return url;
  throw new VerbatimError("USAGE", {
    message: {
      cli: "--public-url must be a scheme, a name and if needed a port, without a path",
      others: "the public address must be a scheme, a name and if needed a port, without a path",
    },
    fix: "Write it like https://studio.example.org",
  });
}

function readTls({ tlsCert, tlsKey }: TransportOptions): Transport["tls"] {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new VerbatimError("USAGE", {
      message: {
        cli: "--tls-cert and --tls-key only work together",
        others: "a certificate and its key only work together",
      },
      fix: "Give both: the certificate with its chain, and its private key.",
    });
  }
  const cert = withFile(tlsCert, { name: "the certificate", forbidden: 0, fix: "" }, readPem);
  const fix = "Run chmod 600 on it.";
  const key = withFile(tlsKey, { name: "the key", forbidden: 0o004, fix }, readPem);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new VerbatimError("USAGE", {
      message: `${tlsCert} and ${tlsKey} are not a certificate and its key`,
      fix: "Give both in PEM, without a passphrase.",
      cause,
    });
  }
  return { cert, key };
}

function readPem(descriptor: number): Buffer {
  return readAtMost(descriptor, MOST_PEM, () => false);
}
