import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ToolResult } from "../support/mcp.ts";
import { type InProcess, openInProcess } from "../support/mcp-in-process.ts";
import { followHints, toQuery, type Way } from "../support/task-caller.ts";
import {
  makeTaskRepository,
  QUESTIONS,
  type Question,
  REPOSITORIES,
  readSampleFiles,
  type TaskRepository,
} from "../support/task-repositories.ts";

// Guards: who knows a question and follows what the tools say comes to the right lines, in few calls and few bytes.

const MOST_CALLS = 4;
const MOST_BYTES = 8_000;

const opened = new Map<string, { readonly repository: TaskRepository; readonly server: InProcess }>();
const ways = new Map<Question, Way>();

beforeAll(async () => {
  for (const name of REPOSITORIES) {
    const repository = makeTaskRepository(name);
    opened.set(name, { repository, server: await openInProcess(repository.root, repository.env) });
  }
});

afterAll(async () => {
  for (const { repository, server } of opened.values()) {
    await server[Symbol.asyncDispose]();
    repository.remove();
  }
});

describe("the questions", () => {
  it("are ten for each repository, each with one line that is there once", () => {
    for (const name of REPOSITORIES) {
      const files = readSampleFiles(name);
      const own = QUESTIONS.filter(({ repository }) => repository === name);
      expect(own).toHaveLength(10);
      for (const { path, line } of own.flatMap((one) => [one, ...(one.also ?? [])])) {
        expect(
          files
            .get(path)!
            .split("\n")
            .filter((one) => one === line),
          `${path}: ${line}`,
        ).toHaveLength(1);
      }
    }
  });

  it("are typed as they are asked, without words that stand everywhere", () => {
    expect(toQuery("How many minutes is an unpaid booking held?")).toBe("minutes unpaid booking held");
  });
});

describe.each(["modern", "legacy"] as const)("a caller that only follows hints, with the %s client", (generation) => {
  it("comes to the right lines in at most four calls and 8 kB on average", async () => {
    // The older client asks a third of them: what it is answered is the same.
    const asked = QUESTIONS.filter((_, i) => generation === "modern" || i % 3 === 0);
    for (const question of asked) {
      const { server } = opened.get(question.repository)!;
      const way = await followHints(question, async (name, input) => {
        const result = (await server.clients[generation].callTool({ name, arguments: { ...input } })) as ToolResult;
        expect(result.isError, `${name} ${JSON.stringify(input)}: ${result.content[0]!.text}`).not.toBe(true);
        return result.content.map(({ text }) => text);
      });
      ways.set(question, way);
    }
    // One number is a constant of another file than the words of its question: no hint leads there.
    const missed = asked.filter((question) => !ways.get(question)!.reached);
    expect(missed.length, JSON.stringify(missed.map((one) => ways.get(one)!.steps))).toBeLessThanOrEqual(1);
    const average = (of: (way: Way) => number) =>
      asked.reduce((sum, question) => sum + of(ways.get(question)!), 0) / asked.length;
    expect(average(({ calls }) => calls)).toBeLessThanOrEqual(MOST_CALLS);
    expect(average(({ bytes }) => bytes)).toBeLessThanOrEqual(MOST_BYTES);
  });
});
