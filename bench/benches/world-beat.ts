import { Beats } from "../../src/rooms/world/beat/beats.ts";
import { changeSettings } from "../../src/rooms/world/history/worlds.ts";
import { setPresence, startScene } from "../../src/rooms/world/people/people.ts";
import type { Bench } from "../harness.ts";
import { seededIntegers } from "../seed.ts";
import { corpusOf, lineOf } from "../world-corpus.ts";

const BEAT_MS = 5;
const BEATS = 40;
const SCENE_BEATS = 20;

/** A whole beat without model time: claim, clock, frame with the capsules of two people, loop, commit. */
export const worldBeat: Bench = {
  name: "world-beat",
  onAsking: true,
  what: `${BEATS} beats of a scripted writer that says nothing, each with a line of the operator, in a store of N entries`,
  baseline: `${BEAT_MS} ms a beat`,
  corpus: `as world-page; two people are present, a new scene every ${SCENE_BEATS} beats`,
  sizes: [100_000, 1_000_000],
  shares: "world-corpus",
  goal: { kind: "time", atMost: 1 },
  async prepare(size) {
    const { ports, second } = await corpusOf(size);
    await changeSettings(ports, second, { writer: { kind: "scripted", script: [] } }, null);
    await setPresence(ports, second, ["GEORGE", "ANA", "BEN"]);
    const beats = new Beats(ports);
    const next = seededIntegers(7);
    let n = 0;
    return {
      async ours() {
        for (let i = 0; i < BEATS; i++) {
          if (n % SCENE_BEATS === 0) await startScene(ports, second, { text: "", present: null });
          await beats.invoke(second, {
            request_id: `r${n++}`,
            invoker: { invoker_id: "SYSTEM_INVOKER", invoker_role: "INVOKER" },
            operator: { operator_id: "GEORGE", input_text: lineOf(next) },
            mode: { kind: "BEAT" },
          });
        }
      },
      baseline: BEAT_MS * BEATS,
    };
  },
};
