import { describe, expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { killTalkers, sendFromProcesses } from "../support/world-processes.ts";

const postgres = await usePostgres();

describe("eight processes that send the same request at once", () => {
  it("write one bundle and get eight identical answers on SQLite", async () => {
    const { answers, texts } = await sendFromProcesses(8);
    expect(new Set(answers).size).toBe(1);
    expect(JSON.parse(answers[0]!)).toMatchObject({ request_id: "same", debug: { wrote: true } });
    expect(texts).toEqual(["Everybody says this.", "I hear you."]);
  });

  it("write one bundle and get eight identical answers on PostgreSQL", needs(postgres.reason), async () => {
    const database = await postgres.createDatabase();
    const { answers, texts } = await sendFromProcesses(8, database.url);
    await database.drop();
    expect(new Set(answers).size).toBe(1);
    expect(texts).toEqual(["Everybody says this.", "I hear you."]);
  });
});

describe("a process that is killed during beats", () => {
  it("loses nothing that was acknowledged and leaves nothing partial", async () => {
    const report = await killTalkers(4);
    expect(report).toMatchObject({ kills: 4, lost: [], broken: [] });
    expect(report.acknowledged).toBeGreaterThanOrEqual(4);
  });

  it("loses nothing on PostgreSQL either, whatever the signal", needs(postgres.reason), async () => {
    const database = await postgres.createDatabase({ durable: true });
    const report = await killTalkers(2, database.url, ["SIGTERM", "SIGKILL"]);
    await database.drop();
    expect(report).toMatchObject({ kills: 2, lost: [], broken: [] });
  });
});
