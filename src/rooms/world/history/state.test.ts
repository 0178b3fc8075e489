import { expect, it } from "vitest";
import { formatState, parseState, type WorldState } from "./state.ts";

const STATE = {
  zone: "Europe/Lisbon",
  world_id: "w_harbour",
  world_key: "00ff",
  parent: null,
  settings: { title: "Harbour", operator_id: "GEORGE" },
  clock_ms: 5,
  paused: false,
  present: ["GEORGE", "ANA"],
  scene_no: 2,
  scene_from: 7,
  next_wseq: 9,
  next_bundle: 4,
  next_beat: 3,
  next_person: 5,
  next_item: 1,
  next_message: 1,
  packs: { "room:GEORGE,ANA": { kind: "anchor", text: [7, 8], replay: [] } },
  script_used: [1],
} as unknown as WorldState;

// Canonical JSON: keys in code point order, no white space.
const TEXT =
  '{"clock_ms":5,"next_beat":3,"next_bundle":4,"next_item":1,"next_message":1,"next_person":5,"next_wseq":9,' +
  '"packs":{"room:GEORGE,ANA":{"kind":"anchor","replay":[],"text":[7,8]}},"parent":null,"paused":false,' +
  '"present":["GEORGE","ANA"],"scene_from":7,"scene_no":2,"script_used":[1],' +
  '"settings":{"operator_id":"GEORGE","title":"Harbour"},"world_id":"w_harbour","world_key":"00ff",' +
  '"zone":"Europe/Lisbon"}';

it("a state is kept as canonical JSON, also when parts of it were written before", () => {
  expect(formatState(STATE)).toBe(TEXT);
  expect(formatState({ ...STATE, next_wseq: 10 })).toBe(TEXT.replace('"next_wseq":9', '"next_wseq":10'));
  expect(formatState({ ...STATE, present: ["ANA"] })).toBe(TEXT.replace('["GEORGE","ANA"],', '["ANA"],'));
  expect(formatState(STATE)).toBe(TEXT);
  expect(parseState({ world_id: "w_harbour", state: TEXT })).toEqual(STATE);
});
