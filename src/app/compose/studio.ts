import type { Operation } from "../../core/operation.ts";
import { parseTime } from "../../core/time.ts";
import { findVerifyCommands } from "../../rooms/workflow/index.ts";
import { listOldest } from "../agent/runs/list.ts";
import type { Input, OperationName, Output, Wiring } from "../operations.ts";
import { STUDIO_OPERATIONS } from "../studio/operations.ts";
import { wiring as agent, agentPorts } from "./agent.ts";
import type { Composition } from "./compose.ts";
import { recall } from "./remembered.ts";
import { wiring as world } from "./world.ts";

/** More than a row of the first screen holds. */
const MOST_OF_A_LINE = 200;

export const wiring: Wiring<typeof STUDIO_OPERATIONS> = {
  operations: STUDIO_OPERATIONS,
  ports: async (composition) => ({
    sessions: composition.sessions,
    runs: (input) => callRoom(composition, agent, "agent.list", input),
    oldestRuns: async (groups, limit) => {
      const ports = await agent.ports(composition, "read", "agent.list");
      return await listOldest(ports, groups, limit);
    },
    worlds: async () => (await callRoom(composition, world, "world.list", {})).worlds,
    async lastLine(worldId) {
      const { entries } = await callRoom(composition, world, "world.projection", { world: worldId, limit: 1 });
      const last = entries.at(-1);
      if (last === undefined) return null;
      const stream = `world/${worldId}`;
      const [newest] = await (await composition.store("read")).read(async ({ ledger }) =>
        ledger.readStream(stream, (await ledger.head(stream))?.position ?? 0, 1),
      );
      const text = [...last.text].slice(0, MOST_OF_A_LINE).join("");
      return { author: last.author_label, text, at: newest?.time ?? "" };
    },
    ledgerSize: async () => (await composition.store("read")).read(({ ledger }) => ledger.size()),
    withTimes: async (work) =>
      (await composition.store("read")).read(({ ledger }) =>
        work(async (index) => parseTime((await ledger.readAll(index, 1))[0]!.entry.time)),
      ),
    now: () => composition.clock.now(),
    entryOf: async (hash) =>
      (await (await composition.store("read")).read(({ ledger }) => ledger.findByHash(hash)))?.index ?? null,
    verified: () => recall(composition, "verified"),
    diagnosed: () => recall(composition, "diagnosed"),
    readiness() {
      const { workTree } = composition.workspace;
      const found = workTree === null ? [] : findVerifyCommands(agentPorts(composition).commandFacts());
      const verify = composition.config().agent.verify.commands.length;
      return { hasGit: workTree !== null, verify, found: found[0]?.command ?? null };
    },
  }),
};

/** Calls an operation of another room over the same workspace, parsed on both ends as every call is. */
async function callRoom<N extends OperationName>(
  composition: Composition,
  room: { readonly operations: readonly unknown[]; readonly ports: (...of: never[]) => Promise<unknown> },
  name: N,
  input: Input<N>,
): Promise<Output<N>> {
  const operation = (room.operations as readonly Operation[]).find((one) => one.name === name)!;
  const make = room.ports as (composition: Composition, effect: string, name: string) => Promise<never>;
  const ports = await make(composition, operation.effect, name);
  return operation.output.parse(await operation.run(ports, operation.input.parse(input))) as Output<N>;
}
