import { dirname } from "node:path";
import { z } from "zod";
import type { AgentPorts } from "../ports.ts";

/** What of the record of a race says who took part. */
const raceRecord = z.looseObject({
  race_id: z.string().min(1).max(64),
  members: z.array(z.looseObject({ run_id: z.string() })).min(2),
});

/** The race that a run took part in. */
export const racePart = z.strictObject({
  race_id: z.string(),
  run_ids: z.array(z.string()).describe("All members, this one included, in the order in which they were made ready."),
});

type RacePart = z.infer<typeof racePart>;

/** The races beside these run folders, by their members. What is not the record of a race is passed over. */
export function readRaces(
  outside: Pick<AgentPorts, "readRaces">,
  runDirs: Iterable<string>,
): ReadonlyMap<string, RacePart> {
  const found = new Map<string, RacePart>();
  for (const folder of new Set([...runDirs].map((dir) => dirname(dir)))) {
    for (const value of outside.readRaces(folder)) {
      const record = raceRecord.safeParse(value);
      if (!record.success) continue;
      const { race_id, members } = record.data;
      const part = { race_id, run_ids: members.map(({ run_id }) => run_id) };
      for (const id of part.run_ids) found.set(id, part);
    }
  }
  return found;
}
