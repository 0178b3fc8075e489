// The log of a run, its trace and the ledger: each is made good from the others, and nothing is told before it has happened.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns, BARE_TIME as TS } from "../../../../../test/support/bare-run.ts";
import type { RunFolder } from "../../ports.ts";
import type { Run } from "../run.ts";
import { BufferedRunFolder } from "./buffered-run-folder.ts";
import { RunLog, readEventBodies, readEvents } from "./run-log.ts";

const line = (seq: number, event: string) =>
  `{"ts":"${TS}","role":"orchestrator","event":"${event}","path":"a","seq":${seq}}\n`;

let bare: BareRuns;
let run: Run;
let folder: RunFolder;

beforeEach(async () => {
  bare = await openBareRuns();
  run = bare.make("one");
  ({ folder } = run);
});
afterEach(() => bare.remove());

const toRun = (over: RunFolder = folder) => bare.again(run, over);
const text = (path: string) => {
  const bytes = folder.read(path);
  return bytes === null ? null : Buffer.from(bytes).toString();
};
const told = async () =>
  (await readEventBodies(toRun())).map((body) => `${String(body["seq"])} ${String(body["event"])}`);
const TRACE = ["# TRACE", "", "Goal: Greet everybody", ""].join("\n");

describe("an event", () => {
  it("goes into the log, its trace and the ledger, each under the next number", async () => {
    const log = await RunLog.open(toRun());
    expect([text("events.jsonl"), text("TRACE.md"), await told()]).toEqual([null, `${TRACE}\n`, []]);
    await log.add("operator", "FIRST", "a", { size: 3 });
    await log.add("orchestrator", "SECOND", "a");
    expect(text("events.jsonl")).toBe(
      `{"ts":"${TS}","role":"operator","event":"FIRST","path":"a","seq":1,"size":3}\n${line(2, "SECOND")}`,
    );
    expect(await told()).toEqual(["1 FIRST", "2 SECOND"]);
    expect(text("TRACE.md")!.split("\n")).toHaveLength(7);
    expect(readEvents(toRun()).map(({ seq, event }) => [seq, event])).toEqual([
      [1, "FIRST"],
      [2, "SECOND"],
    ]);
    await (await RunLog.open(toRun())).add("orchestrator", "THIRD", "a");
    expect(await told()).toEqual(["1 FIRST", "2 SECOND", "3 THIRD"]);
  });

  it("is in no log of a run that has none", () => {
    expect(readEvents(toRun())).toEqual([]);
  });
});

describe("what a killed writer left is made good when the log is opened", () => {
  it("a line without its end is set aside and said so", async () => {
    folder.write("events.jsonl", `${line(1, "FIRST")}${line(2, "SECOND")}{"ts":"20`);
    await RunLog.open(toRun());
    expect(text("superseded/events.tail-3")).toBe('{"ts":"20');
    expect(text("events.jsonl")).toBe(
      `${line(1, "FIRST")}${line(2, "SECOND")}{"ts":"${TS}","role":"orchestrator","event":"EVENTS_TAIL_REPAIRED","path":"events.jsonl","seq":3}\n`,
    );
    expect(await told()).toEqual(["1 FIRST", "2 SECOND", "3 EVENTS_TAIL_REPAIRED"]);
  });

  it("a whole log is left as it is, and nothing is set aside", async () => {
    folder.write("events.jsonl", line(1, "FIRST"));
    await RunLog.open(toRun());
    expect([text("events.jsonl"), folder.list("superseded")]).toEqual([line(1, "FIRST"), []]);
  });

  it("entries that the ledger lacks are appended, and none twice", async () => {
    folder.write("events.jsonl", line(1, "FIRST"));
    await RunLog.open(toRun());
    folder.append("events.jsonl", line(2, "SECOND"));
    for (let i = 0; i < 2; i++) await RunLog.open(toRun());
    expect(await told()).toEqual(["1 FIRST", "2 SECOND"]);
  });

  it("lines that the log lacks come back from the ledger, and the next event has the next number", async () => {
    const log = await RunLog.open(toRun());
    for (const event of ["FIRST", "SECOND", "THIRD"]) await log.add("orchestrator", event, "a");
    folder.write("events.jsonl", line(1, "FIRST"));
    const again = await RunLog.open(toRun());
    expect(text("events.jsonl")).toBe(line(1, "FIRST") + line(2, "SECOND") + line(3, "THIRD"));
    await again.add("orchestrator", "FOURTH", "a");
    expect(text("events.jsonl")!.endsWith(line(4, "FOURTH"))).toBe(true);
    expect(await told()).toEqual(["1 FIRST", "2 SECOND", "3 THIRD", "4 FOURTH"]);
  });

  it("a trace that says something else is written again", async () => {
    const log = await RunLog.open(toRun());
    await log.add("orchestrator", "FIRST", "a");
    const good = text("TRACE.md");
    folder.write("TRACE.md", "something else\n");
    await RunLog.open(toRun());
    expect(text("TRACE.md")).toBe(good);
    folder.remove("TRACE.md");
    await RunLog.open(toRun());
    expect(text("TRACE.md")).toBe(good);
    folder.write = (path) => expect.unreachable(`${path} was right already`);
    await RunLog.open(toRun());
  });

  it("a log longer than a page of the ledger is read whole", async () => {
    const lines = Array.from({ length: 1001 }, (_, i) => line(i + 1, `E${i + 1}`));
    folder.write("events.jsonl", lines.join(""));
    await RunLog.open(toRun());
    const all = await told();
    expect([all.length, all[0], all[500], all[1000]]).toEqual([1001, "1 E1", "501 E501", "1001 E1001"]);
    await RunLog.open(toRun());
    expect(await told()).toHaveLength(1001);
  });

  it("entries of other kinds in the stream of the run are no events", async () => {
    const log = await RunLog.open(toRun());
    await log.add("orchestrator", "FIRST", "a");
    const body = { request_sha256: "a".repeat(64), pack_sha256: "b".repeat(64), files: [] };
    await bare.store.transact(({ ledger }) =>
      ledger.append("workflow/one", "next", [{ kind: "CONTEXT_PACK", actor: "workflow/one", body }]),
    );
    expect(await told()).toEqual(["1 FIRST"]);
    await RunLog.open(toRun());
    expect(text("events.jsonl")).toBe(line(1, "FIRST"));
  });
});

describe("a log that is held", () => {
  it("tells the ledger nothing until it is released, and then everything once", async () => {
    const held = new BufferedRunFolder(folder);
    held.write("events.jsonl", line(1, "FIRST"));
    const log = await RunLog.open(toRun(held));
    expect(await told()).toEqual([]);
    await log.add("orchestrator", "SECOND", "a");
    expect([await told(), text("events.jsonl")]).toEqual([[], null]);
    await log.release();
    expect([await told(), text("events.jsonl")]).toEqual([
      ["1 FIRST", "2 SECOND"],
      line(1, "FIRST") + line(2, "SECOND"),
    ]);
    await log.add("orchestrator", "THIRD", "a");
    expect(await told()).toEqual(["1 FIRST", "2 SECOND", "3 THIRD"]);
    await log.release();
    expect(await told()).toEqual(["1 FIRST", "2 SECOND", "3 THIRD"]);
  });

  it("has nothing to release where nothing is held", async () => {
    const log = await RunLog.open(toRun());
    await log.release();
    expect(await told()).toEqual([]);
  });
});
