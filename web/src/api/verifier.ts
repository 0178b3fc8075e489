import { scriptUrl } from "../app/script-url.ts";
import type { VerificationName, Verifications, VerifyAnswer, VerifyRequest } from "../workers/verify.ts";
import workerUrl from "../workers/verify.ts?worker&url";

type Stage = "reading" | "unpacking" | "verifying";

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (thrown: unknown) => void;
  readonly say: (stage: Stage) => void;
}

let worker: Worker | null = null;
let next = 0;
const waiting = new Map<number, Waiting>();

/** Loads the verifier, so that nothing is fetched when it is needed. */
export function openVerifier(): Worker {
  if (worker !== null) return worker;
  const made = new Worker(scriptUrl(workerUrl) as string, { type: "module" });
  made.addEventListener("message", ({ data }: MessageEvent<VerifyAnswer>) => {
    const asker = waiting.get(data.id);
    if (asker === undefined) return;
    if ("stage" in data) return asker.say(data.stage);
    waiting.delete(data.id);
    if ("answer" in data) asker.resolve(data.answer);
    else asker.reject(new Error(data.failed));
  });
  // A worker that cannot even be loaded says so here and nowhere else.
  made.addEventListener("error", (event) => {
    for (const asker of waiting.values()) asker.reject(new Error(event.message));
    waiting.clear();
    worker = null;
  });
  worker = made;
  return made;
}

/** Verifies in a worker of this page. Nothing of it is sent anywhere. */
export function verifyHere<N extends VerificationName>(
  name: N,
  asked: Verifications[N]["asked"],
  say: (stage: Stage) => void = () => undefined,
): Promise<Verifications[N]["answer"]> {
  const id = next++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject, say });
    openVerifier().postMessage({ id, name, asked } satisfies VerifyRequest);
  });
}
