import { createPauses } from "../../../adapters/process/pauses.ts";
import { type LandRow, landQueueOf, type NewLanding } from "../../../rooms/jobs/index.ts";
import type { Landed } from "../../agent/queue/queue-ports.ts";
import { QUEUE_RECORDS } from "../../team/queue-records.ts";
import { AUDIT_STREAM } from "../../team/records.ts";
import type { Composition } from "../compose.ts";
import type { AppStore } from "../store/store.ts";
import { requireQueue } from "./team-jobs.ts";

const LOOK_MS = 200;

type Asked = Omit<NewLanding, "land_id" | "asked_by">;

/** Asks for a merge, or for the end of a branch; gives the id of one that is on its way already. */
export async function requestLanding(composition: Composition, store: AppStore, asked: Asked): Promise<string> {
  const { dispatch } = requireQueue(store);
  const queue = landQueueOf(asked.repository_id);
  await dispatch.prepare(queue);
  const land_id = `land_${composition.ids.uuid().replaceAll("-", "")}`;
  const asked_by = composition.actor;
  return store.transact(async ({ team, ledger }) => {
    const earlier = await team!.queued.landingsOf(asked.subject);
    const same = earlier.find(
      ({ onto, source, result }) => result === null && onto === asked.onto && source === asked.source,
    );
    if (same !== undefined) return same.land_id;
    await team!.queued.addLanding({ ...asked, land_id, asked_by });
    const { kind, subject, ref, onto, source } = asked;
    const body = { land_id, kind, subject, ref, onto, source };
    await ledger.append(AUDIT_STREAM, "next", [QUEUE_RECORDS.make("LAND_REQUESTED", asked_by, body)]);
    await team!.send({
      job_id: land_id,
      queue,
      repository_id: asked.repository_id,
      base_commit: null,
      base_tree: null,
    });
    return land_id;
  });
}

/** Looks until a worker has ended it, or until the signal. */
export async function waitForLanding(
  { interrupts }: Composition,
  store: AppStore,
  landId: string,
  stop: AbortSignal,
): Promise<Landed> {
  const pauses = createPauses();
  const unlisten = interrupts.listen(() => undefined);
  try {
    for (;;) {
      const row = (await store.read(({ team }) => team!.queued.landing(landId)))!;
      if (row.result !== null || stop.aborted) return toLanded(row);
      await pauses.pause(LOOK_MS, stop);
    }
  } finally {
    unlisten();
  }
}

function toLanded({ land_id, result }: LandRow): Landed {
  const state = result === null ? "queued" : result.code === null ? "landed" : "refused";
  return {
    land_id,
    state,
    commit: result?.commit_id ?? null,
    code: result?.code ?? null,
    message: result?.message ?? null,
  };
}
