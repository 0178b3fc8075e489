import {
  type BundleReport,
  type ConsistencyProof,
  type EntryCheck,
  hashEntry,
  type InclusionProof,
  traceInclusion,
  verifyBundleFiles,
  verifyConsistency,
  verifyReceiptChain,
} from "verbatim-agent/verify";
import { type Dropped, gather, NotABundle } from "./dropped.ts";
import { ZipRefused } from "./zip.ts";

/** What can be verified here: by the code that the command line verifies with, away from what is drawn. */
export interface Verifications {
  entry: { readonly asked: { readonly line: string }; readonly answer: EntryCheck };
  inclusion: {
    readonly asked: { readonly proof: InclusionProof };
    readonly answer: Awaited<ReturnType<typeof traceInclusion>>;
  };
  consistency: { readonly asked: { readonly proof: ConsistencyProof }; readonly answer: boolean };
  chain: {
    readonly asked: { readonly stream: string; readonly text: string };
    readonly answer: Awaited<ReturnType<typeof verifyReceiptChain>>;
  };
  bundle: {
    readonly asked: {
      readonly dropped: readonly Dropped[];
      readonly folders: readonly string[];
      readonly policy: File | null;
      readonly strict: boolean;
    };
    readonly answer: Checked;
  };
}

export type VerificationName = keyof Verifications;

/** A text of the bundle, for reading; null where it is none. */
export interface ShownArtifact {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly text: string | null;
  readonly cut: boolean;
}

/** What became of something that was dropped. */
export type Checked =
  | { readonly refused: string }
  | {
      readonly report: BundleReport;
      readonly artifacts: readonly ShownArtifact[];
      /** Requests that were made here meanwhile. */
      readonly requests: number;
    };

export interface VerifyRequest {
  readonly id: number;
  readonly name: VerificationName;
  readonly asked: unknown;
}

export type VerifyAnswer =
  | { readonly id: number; readonly stage: "reading" | "unpacking" | "verifying" }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failed: string };

const MOST_SHOWN = 100_000;

type Say = (stage: "reading" | "unpacking" | "verifying") => void;

const WORK: { readonly [N in VerificationName]: (asked: never, say: Say) => Promise<Verifications[N]["answer"]> } = {
  entry: ({ line }: Verifications["entry"]["asked"]) => hashEntry(line),
  inclusion: ({ proof }: Verifications["inclusion"]["asked"]) => traceInclusion(proof),
  consistency: ({ proof }: Verifications["consistency"]["asked"]) => verifyConsistency(proof),
  chain: ({ stream, text }: Verifications["chain"]["asked"]) =>
    verifyReceiptChain(
      stream,
      text.split("\n").filter((line) => line !== ""),
    ),
  bundle: checkBundle,
};

async function checkBundle(asked: Verifications["bundle"]["asked"], say: Say): Promise<Checked> {
  const before = performance.getEntriesByType("resource").length;
  try {
    const { files, folders, attestation } = await gather(asked.dropped, asked.folders, say);
    const policy = asked.policy === null ? null : new Uint8Array(await asked.policy.arrayBuffer());
    say("verifying");
    const report = await verifyBundleFiles(
      { files, folders },
      {
        strict: asked.strict,
        ...(attestation === null ? {} : { attestation }),
        ...(policy === null ? {} : { policy }),
      },
    );
    const artifacts: ShownArtifact[] = [];
    for (const [path, bytes] of files) if (path !== "bundle.json") artifacts.push(await show(path, bytes));
    const requests = performance.getEntriesByType("resource").length - before;
    return { report, artifacts: artifacts.sort((a, b) => (a.path < b.path ? -1 : 1)), requests };
  } catch (thrown) {
    if (thrown instanceof ZipRefused || thrown instanceof NotABundle) return { refused: thrown.code };
    // A policy that is none is refused by the verifier, in words of its own.
    if (asked.policy !== null && thrown instanceof Error && "code" in thrown) return { refused: "POLICY_INVALID" };
    throw thrown;
  }
}

async function show(path: string, bytes: Uint8Array): Promise<ShownArtifact> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  const sha256 = [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const text = decode(bytes);
  return {
    path,
    bytes: bytes.length,
    sha256,
    text: text === null ? null : text.slice(0, MOST_SHOWN),
    cut: (text?.length ?? 0) > MOST_SHOWN,
  };
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

addEventListener("message", ({ data }: MessageEvent<VerifyRequest>) => {
  const { id, name, asked } = data;
  const say: Say = (stage) => postMessage({ id, stage } satisfies VerifyAnswer);
  void WORK[name](asked as never, say).then(
    (answer) => postMessage({ id, answer } satisfies VerifyAnswer),
    (thrown: unknown) => postMessage({ id, failed: String(thrown) } satisfies VerifyAnswer),
  );
});
