import { expect, it } from "vitest";
import type { Cast } from "../people/cast.ts";
import { type ModelCall, runBeat } from "./beat-loop.ts";

const cast: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map(),
  present: ["GEORGE"],
  visibility_default: "presence",
  writer_lint: "report",
};

it.each([
  [{ max_calls: 4, beat_bytes: 24_576, wall_ms: 30_000 }, 4],
  [{ max_calls: 1, beat_bytes: 1, wall_ms: 1 }, 1],
  [{ max_calls: 0, beat_bytes: 24_576, wall_ms: 30_000 }, 0],
  [{ max_calls: 4, beat_bytes: 0, wall_ms: 30_000 }, 0],
  [{ max_calls: 4, beat_bytes: 24_576, wall_ms: 0 }, 0],
])("the first call with the limits %j has %i tool calls left, and no tools where it has none", async (limits, left) => {
  const calls: ModelCall[] = [];
  await runBeat(
    {
      cast,
      zones: { isKnown: () => true, offsetMinutes: () => 0 },
      request_id: "r1",
      now_ms: 0,
      limits,
      passes: [{ actor: "WORLD", pass: "ROOM" }],
    },
    {
      elapsed: () => 0,
      async call(call) {
        calls.push(call);
        return { raw: '{"no_write":{}}' };
      },
      runTool: async () => ({ value: {}, bytes: 0 }),
      fit: () => null,
    },
  );
  expect(calls.map(({ tools }) => tools)).toEqual([{ available: left > 0, calls_left: left }]);
});
