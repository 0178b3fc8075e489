import { VerbatimError } from "../../../core/errors/index.ts";
import { formatTime } from "../../../core/time.ts";
import type { Wiring } from "../../operations.ts";
import type { TeamFigures } from "../../team/metrics.ts";
import { TEAM_OPERATIONS } from "../../team/operations.ts";
import type { TeamPorts } from "../../team/ports.ts";
import { AUDIT_RECORDS, AUDIT_STREAM } from "../../team/records.ts";

import type { AppStore } from "../store/store.ts";

const GONE_MS = 15_000;

/** What a team keeps about itself in its database. */
export const wiring: Wiring<typeof TEAM_OPERATIONS> = {
  operations: TEAM_OPERATIONS,
  async ports(composition): Promise<TeamPorts> {
    const { databaseUrl, ids, random, crypto } = composition;
    return {
      async addRepository(name, remote, branch) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        const { openUnproved } = await import("./team-jobs.ts");
        const id = ids.uuid();
        const mirror = await openUnproved(composition, id, remote);
        const roots = await mirror.readRoots(branch);
        return store.transact(async ({ team, ledger }) => {
          const known = (await team!.repositories()).find((one) => one.name === name);
          if (known === undefined) {
            const row = { id, name, remote, default_branch: branch, roots };
            await team!.addRepository(row);
            const { remote: _, ...body } = row;
            await ledger.append(AUDIT_STREAM, "next", [
              AUDIT_RECORDS.make("REPOSITORY_ADDED", composition.actor, body),
            ]);
            return { ...row, existing: false };
          }
          const isSame = known.remote === remote && known.default_branch === branch;
          if (isSame && known.roots.join() === roots.join()) return { ...known, existing: true };
          throw new VerbatimError("REPOSITORY_EXISTS", { details: { name, remote: known.remote } });
        });
      },
      async listRepositories() {
        requireUrl(databaseUrl());
        return (await composition.store("read")).read(({ team }) => team!.repositories());
      },
      async work(input) {
        requireUrl(databaseUrl());
        const { runWorker } = await import("./team-worker.ts");
        return runWorker(composition, input);
      },
      async addToken(name, role, days) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        const token = `vt_${Buffer.from(random.bytes(32)).toString("hex")}`;
        const token_sha256 = crypto.sha256(token);
        const created_by = composition.actor;
        return store.transact(async ({ team, ledger }) => {
          const expires_ms = await team!.addToken({ token_sha256, name, role, created_by }, days);
          if (expires_ms === null) throw new VerbatimError("TOKEN_EXISTS", { details: { name } });
          const body = { name, role, expires: formatTime(expires_ms) };
          await ledger.append(AUDIT_STREAM, "next", [AUDIT_RECORDS.make("TOKEN_ADDED", created_by, body)]);
          return { token, expires_ms };
        });
      },
      async listTokens() {
        requireUrl(databaseUrl());
        return (await composition.store("read")).read(({ team }) => team!.tokens());
      },
      async revokeToken(name) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        return store.transact(async ({ team, ledger }) => {
          if (!(await team!.revokeToken(name))) return false;
          const entry = AUDIT_RECORDS.make("TOKEN_REVOKED", composition.actor, { name });
          await ledger.append(AUDIT_STREAM, "next", [entry]);
          return true;
        });
      },
      async findToken(hash) {
        if (databaseUrl() === undefined) return null;
        const tokens = await (await composition.store("read")).read(({ team }) => team!.tokens());
        const found = tokens.find(({ token_sha256, state }) => token_sha256 === hash && state === "good");
        return found === undefined ? null : { name: found.name, role: found.role };
      },
      async figures() {
        requireUrl(databaseUrl());
        return readFigures(await composition.store("read"));
      },
      async listWorkers() {
        requireUrl(databaseUrl());
        const rows = await (await composition.store("read")).read(({ team }) => team!.workers());
        return rows.map((row) => ({ ...row, state: row.silent_ms > GONE_MS ? ("gone" as const) : row.state }));
      },
      async drainWorker(name) {
        requireUrl(databaseUrl());
        const store = await composition.store("append");
        if (await store.transact(({ team }) => team!.drain(name))) return;
        const names = (await store.read(({ team }) => team!.workers())).map((row) => row.name);
        throw new VerbatimError("WORKER_UNKNOWN", { details: { name, workers: names } });
      },
      async addWorkspace(name, logins) {
        const { addWorkspace } = await import("../../../adapters/sql/postgres/workspaces.ts");
        return addWorkspace({ url: requireUrl(databaseUrl()), name, logins, ids });
      },
    };
  },
};

/** What the records and the queue of a team say of themselves. */
export async function readFigures(store: AppStore): Promise<TeamFigures> {
  return store.read(async ({ team, ledger }) => {
    const rows = await team!.queues();
    const isDead = ({ queue }: (typeof rows)[number]) => queue.startsWith("dead/");
    const workers = { ready: 0, paused: 0, draining: 0, gone: 0 };
    const all = await team!.workers();
    for (const { state, silent_ms } of all) workers[silent_ms > GONE_MS ? "gone" : state]++;
    const here = all.filter(({ silent_ms }) => silent_ms <= GONE_MS);
    const entries = await ledger.size();
    const [checkpoint] = await ledger.browse({ streams: ["trust"], kinds: ["CHECKPOINT"], limit: 1 });
    const runs: Record<string, number> = {};
    for (const { state, n } of await team!.queued.tally()) runs[state] = n;
    return {
      queues: rows.filter((row) => !isDead(row)),
      dead: rows.filter(isDead).reduce((sum, { ready }) => sum + ready, 0),
      workers,
      slots: here.reduce((sum, { slots }) => sum + slots, 0),
      busy: here.reduce((sum, { busy }) => sum + busy, 0),
      entries,
      unchecked: entries - (checkpoint === undefined ? 0 : checkpoint.index + 1),
      runs,
    };
  });
}

function requireUrl(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new VerbatimError("DATABASE_NOT_SET", { where: "VERBATIM_DATABASE_URL" });
}
