import { describe, expect, it } from "vitest";
import { chooseLevel, formatLog, hideSecrets, Log } from "./log.ts";

const NOW = Date.parse("2026-11-15T22:10:03.412Z");

describe("the log of a team's process", () => {
  it("is one object a line, whose members are in one order whatever order they were given in", () => {
    const facts = {
      ms: 184,
      attempt: 1,
      step: 2,
      job: "job_b27a2d8ed45b8417",
      worker: "build-3#1",
      workspace: "harbour",
    };
    expect(formatLog("info", NOW, "step done", facts)).toBe(
      '{"level":"info","time":"2026-11-15T22:10:03.412Z","msg":"step done","workspace":"harbour","worker":"build-3#1","job":"job_b27a2d8ed45b8417","step":2,"attempt":1,"ms":184}',
    );
    expect(formatLog("warn", NOW, "two\nlines", { code: undefined })).toBe(
      '{"level":"warn","time":"2026-11-15T22:10:03.412Z","msg":"two\\nlines"}',
    );
  });

  it.each([
    ["postgres://mira:low-tide@db.example/team is away", "postgres://***@db.example/team is away"],
    ["https://x:y@git.example/a and ssh://mira@h", "https://***@git.example/a and ssh://***@h"],
    [`with vt_${"a1".repeat(32)}.`, "with vt_***."],
    ["Authorization: Bearer abc.def", "Authorization: Bearer ***"],
    ["PGPASSWORD=ebb-tide psql", "PGPASSWORD=*** psql"],
    ['{"api_key": "neap"}', '{"api_key": "***"}'],
    ["job_1 has three boats", "job_1 has three boats"],
  ])("does not say what nobody may read: %s", (text, said) => {
    expect(hideSecrets(text)).toBe(said);
  });

  it("says what is at least as important as was asked for", () => {
    const lines: string[] = [];
    const log = new Log((line) => lines.push(line), { now: () => NOW, level: "warn", facts: { workspace: "harbour" } });
    log.say("info", "nothing");
    log.say("error", "something", { code: "DISK_FULL" });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: "error", time: "2026-11-15T22:10:03.412Z", msg: "something", workspace: "harbour", code: "DISK_FULL" },
    ]);
  });

  it("takes its level from the call, then from the environment", () => {
    expect(chooseLevel(undefined, {})).toBe("info");
    expect(chooseLevel(undefined, { VERBATIM_LOG_LEVEL: "debug" })).toBe("debug");
    expect(chooseLevel("error", { VERBATIM_LOG_LEVEL: "debug" })).toBe("error");
    expect(() => chooseLevel(undefined, { VERBATIM_LOG_LEVEL: "loud" })).toThrow(/one of the levels/);
  });
});
