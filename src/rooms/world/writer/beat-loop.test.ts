import { expect, it } from "vitest";
import type { Cast } from "../people/cast.ts";
import { type ModelCall, runBeat, toolsBefore } from "./beat-loop.ts";

const cast: Cast = {
  operator_id: "GEORGE",
  operator_name: "George",
  people: new Map(),
  present: ["GEORGE"],
  visibility_default: "presence",
  writer_lint: "report",
};

it.each([
  { max_calls: 4, beat_bytes: 24_576, wall_ms: 30_000 },
  { max_calls: 1, beat_bytes: 1, wall_ms: 1 },
  { max_calls: 0, beat_bytes: 24_576, wall_ms: 30_000 },
  { max_calls: 4, beat_bytes: 0, wall_ms: 30_000 },
  { max_calls: 4, beat_bytes: 24_576, wall_ms: 0 },
])("a frame is measured with what its first call says about tools: $max_calls $beat_bytes $wall_ms", async (limits) => {
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
  expect(calls.map(({ tools }) => tools)).toEqual([toolsBefore(limits)]);
});
