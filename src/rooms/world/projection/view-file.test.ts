import { describe, expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { closeView, verifyViewFile } from "./view-file.ts";

const HEADER =
  '{"format":"verbatim.world-view","note":"n","title":"Harbour","type":"header","version":1,"viewer":"ANA","world_id":"w_harbour"}';
const entry = (id: string, time = "2026-01-01T07:30:00+00:00") =>
  `{"entry":{"author_label":null,"channel":"VOICE","created_at_world":"${time}","entry_id":"${id}","text":"Fog."},"type":"entry"}`;
const CAPSULE =
  '{"capsule":{"capsule_id":"cap:ANA:0","created_at_world":"2026-01-01T07:30:00+00:00","person_id":"ANA","sections":[{"name":"SOURCE_EXCERPTS","provenance":{"used_entry_ids":[]},"text":""}]},"type":"capsule"}';
const POCKET =
  '{"pocket":{"calendar":{"items":[]},"clock":{"timezone":null,"world_time":null},"is_available":true,"messages":{"items":[]}},"type":"pocket"}';

const judge = (...lines: readonly string[]) =>
  verifyViewFile(nodeCrypto, `${closeView(nodeCrypto, lines).join("\n")}\n`);

describe("an exported view", () => {
  it("is read with the number of its lines", () => {
    const { file, findings } = judge(HEADER, entry("e_a"), entry("e_b"), CAPSULE, POCKET);
    expect(findings).toEqual([]);
    expect(file?.entries).toBe(2);
  });

  it.each([
    ["without a pocket", [HEADER, CAPSULE], "line 2"],
    ["with two pockets", [HEADER, POCKET, POCKET], "line 3"],
    ["with lines out of order", [HEADER, CAPSULE, entry("e_a"), POCKET], "line 3"],
    ["with a line of another kind", [HEADER, '{"count":7,"type":"hidden"}', POCKET], "line 2"],
    ["with more in a line than belongs there", [HEADER, POCKET.replace("}", ',"x":1}')], "line 2"],
    ["with a line twice", [HEADER, entry("e_a"), entry("e_a"), POCKET], "line 3"],
    ["that goes back in time", [HEADER, entry("e_a"), entry("e_b", "2025-01-01T07:30:00+00:00"), POCKET], "line 3"],
    ["with a capsule that is none", [HEADER, entry("e_a"), '{"capsule":{},"type":"capsule"}', POCKET], "line 3"],
    ["with a header that says more", [HEADER.replace('"note"', '"hidden":3,"note"'), POCKET], "line 1"],
    ["of another version", [HEADER.replace('"version":1', '"version":2'), POCKET], "line 1"],
    ["with white space between", [HEADER, POCKET.replace(":", ": ")], "line 2"],
    ["with a line that is no JSON", [HEADER, "fog", POCKET], "line 2"],
  ])("is malformed %s, whatever its manifest says", (_, lines, where) => {
    expect(judge(...lines)).toMatchObject({ file: null, findings: [{ code: "WORLD_FILE_MALFORMED", where }] });
  });

  it("without a manifest is malformed, and with another one does not fit", () => {
    const lines = closeView(nodeCrypto, [HEADER, POCKET]);
    expect(verifyViewFile(nodeCrypto, lines.slice(0, -1).join("\n")).findings).toMatchObject([
      { code: "WORLD_FILE_MALFORMED", where: "line 2" },
    ]);
    const other = [...lines.slice(0, -1), lines.at(-1)!.replace('"lines":2', '"lines":3')].join("\n");
    expect(verifyViewFile(nodeCrypto, other).findings).toMatchObject([
      { code: "WORLD_FILE_HASH_MISMATCH", where: "line 3" },
    ]);
  });
});
