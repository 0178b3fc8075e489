import type { WorldPorts } from "../operations/ports.ts";
import { extendGrip, type InvocationLease, isStopRequested } from "./claims.ts";

const STOP_LOOK_MS = 500;

/**
 * Keeps the claim and the lock of a beat while its writer works, and stops the writer when they are lost or somebody
 * wants it stopped. Gives back what ends it.
 */
export function startPulse(ports: WorldPorts, grip: InvocationLease, abort: AbortController): () => void {
  const beatOften = Math.max(1, Math.floor(Math.min(ports.times.lease_ms, ports.times.lock_ms) / 3));
  const stopHeart = ports.pace.every(beatOften, () => {
    extendGrip(ports, grip).then(
      (held) => {
        if (!held) abort.abort();
      },
      () => abort.abort(),
    );
  });
  const stopWatching = watchForStop(ports, grip, abort);
  return () => {
    stopHeart();
    stopWatching();
  };
}

/** Looks now and then whether another process wants the writer stopped. */
function watchForStop({ store, pace }: WorldPorts, grip: InvocationLease, abort: AbortController): () => void {
  return pace.every(STOP_LOOK_MS, () => {
    store
      .read((door) => door.world.invocation(grip.number, grip.request_id))
      .then(
        (stored) => {
          if (isStopRequested(stored)) abort.abort();
        },
        // The heartbeat finds out what is wrong with the store.
        () => undefined,
      );
  });
}
