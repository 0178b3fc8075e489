import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCampaign } from "../../tools/mutate/campaign.ts";
import { listMutants } from "../../tools/mutate/mutants.ts";
import { PATHS } from "../../tools/mutate/paths.ts";

// A project with one rule that its test asks for at the border and one that it never asks for.

const SOURCE = `/** Grown up. */
export const isAdult = (age: number): boolean => age >= min;
const min = 18;
export function greet(loud: boolean): string {
  return loud ? "HELLO" : "hello";
}
`;
const TEST = `import { expect, it } from "vitest";
import { greet, isAdult } from "./age.ts";
it("asks", () => {
  expect([isAdult(18), isAdult(17)]).toEqual([true, false]);
  expect(greet(true)).toBe("HELLO");
});
`;

const TICKET = `import { expect, it } from "vitest";
import { price } from "./ticket.ts";
it("asks", () => expect([price(18)]).toEqual([9]));
`;

// Asks for a database server as our own tests do, and goes on without one.
const ZOO = `import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, inject, it } from "vitest";
import { isOpen } from "./zoo.ts";
const { reason } = JSON.parse(await text(connect(inject("postgresDoor"))));
it("asks", ({ skip }) => skip(reason));
it("asks without", () => expect([isOpen(8), isOpen(9)]).toEqual([false, true]));
`;

// Takes its whole process along when the bell does not ring.
const BELL = `import { expect, it } from "vitest";
import { rings } from "./bell.ts";
it("asks", () => {
  if (!rings(9)) process.kill(process.pid, "SIGKILL");
  expect(rings(8)).toBe(false);
});
`;

function makeProject(): string {
  const root = mkdtempSync(join(tmpdir(), "verbatim-tiny-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  writeFileSync(join(root, "vitest.config.ts"), "export default { test: { include: ['src/**/*.test.ts'] } };\n");
  writeFileSync(join(root, "src/age.ts"), SOURCE);
  writeFileSync(join(root, "src/age.test.ts"), TEST);
  writeFileSync(
    join(root, "src/ticket.ts"),
    'import { isAdult } from "./age.ts";\nexport const price = (age: number) => (isAdult(age) ? 9 : 4);\n',
  );
  writeFileSync(join(root, "src/ticket.test.ts"), TICKET);
  writeFileSync(join(root, "src/zoo.ts"), "export const isOpen = (hour: number) => hour > 8;\n");
  writeFileSync(join(root, "src/zoo.test.ts"), ZOO);
  return root;
}

it("a mistake that a test notices is killed, one that none notices survives, and the checkout stays as it was", {
  timeout: 300_000,
}, async () => {
  const root = makeProject();
  const state = join(root, ".mutate/state.json");
  const options = { root, paths: ["src"], state, minutes: 5, tests: 3, log: () => undefined };
  const report = await runCampaign(options);
  expect(report).toEqual({
    complete: true,
    folders: [
      {
        folder: "src",
        mutants: 10,
        chosen: 10,
        run: 10,
        killed: 7,
        survived: 3,
        refusals: 0,
        refusals_survived: 0,
        score: 70,
      },
    ],
    survivors: [
      { file: "src/age.ts", line: 5, original: "loud", replacement: "true", refusal: false },
      { file: "src/ticket.ts", line: 2, original: "isAdult(age)", replacement: "true", refusal: false },
      { file: "src/ticket.ts", line: 2, original: "4", replacement: "5", refusal: false },
    ],
  });
  expect(readFileSync(join(root, "src/age.ts"), "utf8")).toBe(SOURCE);

  // What is known is not tried again: without time the same answer comes from the state.
  expect(await runCampaign({ ...options, minutes: 0 })).toEqual(report);
  // A sample is a part of it, the same every time.
  const sample = await runCampaign({ ...options, minutes: 0, most: 4 });
  expect(sample).toMatchObject({ complete: true, folders: [{ mutants: 10, chosen: 4, run: 4 }] });
  expect(await runCampaign({ ...options, minutes: 0, most: 4 })).toEqual(sample);
  // Another test makes the answers it gave void, and no others.
  writeFileSync(join(root, "src/age.test.ts"), TEST.replace("true, false", "true, !true"));
  expect(await runCampaign({ ...options, minutes: 0 })).toMatchObject({
    complete: false,
    folders: [{ mutants: 10, run: 6, score: 66.7 }],
  });
});

it("a mistake that takes the tests' process along is noticed, and the next one is asked in another process", async () => {
  const root = makeProject();
  writeFileSync(join(root, "src/bell.ts"), "export const rings = (hour: number) => hour > 8;\n");
  writeFileSync(join(root, "src/bell.test.ts"), BELL);
  const state = join(root, ".mutate/state.json");
  const options = { root, paths: ["src/bell.ts"], state, minutes: 5, tests: 1, log: () => undefined };
  expect(await runCampaign(options)).toMatchObject({
    complete: true,
    folders: [{ folder: "src", mutants: 2, run: 2, killed: 2 }],
  });
});

it("mistakes turn refusals into acceptances, and leave types, imports and messages alone", () => {
  const text = `import { a } from "./a.ts";
interface B { readonly c: 1 }
export function check(list: readonly string[], most: number): void {
  if (list.length > most) throw new Error("too many");
  if (!list.every((one) => one.startsWith("x"))) a(list);
}
`;
  const shown = listMutants("b.ts", text).map(
    ({ line, original, replacement }) => `${line} ${original} -> ${replacement}`,
  );
  expect(shown).toEqual([
    "4 list.length > most -> true",
    "4 list.length > most -> false",
    "4 > -> >=",
    '4 throw new Error("too many"); -> ;',
    '5 !list.every((one) => one.startsWith("x")) -> true',
    '5 !list.every((one) => one.startsWith("x")) -> false',
    '5 !list.every((one) => one.startsWith("x")) -> list.every((one) => one.startsWith("x"))',
    "5 every -> some",
    "5 startsWith -> endsWith",
    "5 a(list); -> ;",
  ]);
});

it("mistakes that may let something refused through are known", () => {
  const text = `export function isAdult(age: number): boolean {
  if (age > 200) throw new Error("nobody is that old");
  const years = age === 0 ? 1 : age;
  if (years < 18) return false;
  check(age);
  if (age !== 77) return true;
  throw new Error("not you");
}
function check(age: number): void {
  if (age > 150) notes.push("HOST_REFUSED");
  notes.push(age);
}
`;
  const found = listMutants("age.ts", text).filter(({ refusal }) => refusal);
  expect(found.map(({ line, replacement }) => `${line} ${replacement}`)).toEqual([
    "2 false",
    "2 >=",
    "2 201",
    "2 ;",
    "4 false",
    "4 <=",
    "4 19",
    "5 ;",
    "6 true",
    "6 ===",
    "6 78",
    "7 ;",
    "10 false",
    "10 >=",
    "10 151",
    "10 ;",
  ]);
});

it("mistakes that may let something refused through are tried before all others, or alone", {
  timeout: 300_000,
}, async () => {
  const root = makeProject();
  const text = `export function isOpen(hour: number): boolean {
  if (hour > 24) throw new Error("no such hour");
  return hour >= opens;
}
const opens = 9;
export const bell = true;
`;
  writeFileSync(join(root, "src/zoo.ts"), text);
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const options = { root, paths: ["src/zoo.ts"], state: join(root, "state.json"), minutes: 5, tests: 1, log };
  const report = await runCampaign(options);
  expect(lines.map((line) => line.slice(0, "survived (refusal) src/zoo.ts:2".length)).sort()).toEqual([
    "survived (refusal) src/zoo.ts:2",
    "survived (refusal) src/zoo.ts:2",
    "survived (refusal) src/zoo.ts:2",
    "survived (refusal) src/zoo.ts:2",
    "survived src/zoo.ts:6: true -> ",
  ]);
  expect(lines.at(-1)).toBe("survived src/zoo.ts:6: true -> false");
  expect(report.folders).toMatchObject([{ mutants: 8, chosen: 8, refusals: 4, refusals_survived: 4 }]);
  const alone = await runCampaign({ ...options, minutes: 0, refusals: true });
  expect(alone.folders).toMatchObject([{ mutants: 8, chosen: 4, run: 4, survived: 4 }]);
});

it("tests that need those before them in the file notice nothing by being run without them", {
  timeout: 300_000,
}, async () => {
  const root = makeProject();
  const text = `import { expect, it } from "vitest";
import { isOpen } from "./zoo.ts";
let gate = "closed";
it("opens the gate", () => { gate = "open"; });
it("asks far from the border", () => expect([gate, isOpen(12)]).toEqual(["open", true]));
`;
  writeFileSync(join(root, "src/zoo.test.ts"), text);
  const options = { root, paths: ["src/zoo.ts"], state: join(root, "state.json"), minutes: 5, tests: 1 };
  const report = await runCampaign({ ...options, log: () => undefined });
  expect(report.folders).toMatchObject([{ mutants: 2, run: 2, killed: 0, survived: 2 }]);
});

it("a test file that takes too long is left out and named", { timeout: 300_000 }, async () => {
  const root = makeProject();
  const lines: string[] = [];
  // It never ends, so however fast the machine is, it has not ended in time.
  const text =
    'import { it } from "vitest";\nimport "./zoo.ts";\nit("waits for the keeper", () => new Promise(() => undefined), 3_600_000);\n';
  writeFileSync(join(root, "src/zoo.test.ts"), text);
  const options = { root, paths: ["src/zoo.ts"], state: join(root, "state.json"), minutes: 5, tests: 1, seconds: 1 };
  const report = await runCampaign({ ...options, log: (line) => lines.push(line) });
  expect(lines).toEqual([
    "left out: src/zoo.test.ts does not pass here without a mistake (it does not end in 1 seconds, or cannot be bundled)",
  ]);
  expect(report).toMatchObject({ complete: false, folders: [{ mutants: 2, run: 0, score: null }] });
});

it("every part that is measured unless told otherwise is there", () => {
  expect(PATHS.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});

it("a test file that does not pass is named with its first error", { timeout: 300_000 }, async () => {
  const root = makeProject();
  const lines: string[] = [];
  const text = `import { expect, it } from "vitest";
import { isOpen } from "./zoo.ts";
it("opens at dawn", () => expect(isOpen(12)).toBe("perhaps"));
`;
  writeFileSync(join(root, "src/zoo.test.ts"), text);
  const options = { root, paths: ["src/zoo.ts"], state: join(root, "state.json"), minutes: 5, tests: 1 };
  await runCampaign({ ...options, log: (line) => lines.push(line) });
  expect(lines).toEqual([
    "left out: src/zoo.test.ts does not pass here without a mistake (opens at dawn: expected true to be 'perhaps' // Object.is equality)",
  ]);
});

it("tests that wait for a condition, turn the clock, or import something late, are asked as well", {
  timeout: 300_000,
}, async () => {
  const root = makeProject();
  const lines: string[] = [];
  const text = `import { expect, it, vi } from "vitest";
import { isOpen } from "./zoo.ts";
it("is open some day", async () => { await expect.poll(() => isOpen(12), { timeout: 100 }).toBe(true); });
it("is closed in a minute", async () => {
  vi.useFakeTimers();
  const later = new Promise((resolve) => setTimeout(() => resolve(isOpen(1)), 60_000));
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  expect(await later).toBe(false);
});
it("knows the system", async () => expect((await import("node:os")).EOL).toHaveLength(1));
`;
  writeFileSync(join(root, "src/zoo.test.ts"), text);
  const options = { root, paths: ["src/zoo.ts"], state: join(root, "state.json"), minutes: 5, tests: 1 };
  const report = await runCampaign({ ...options, log: (line) => lines.push(line) });
  expect(lines.filter((line) => line.startsWith("left out"))).toEqual([]);
  expect(report.folders).toMatchObject([{ mutants: 2, run: 2 }]);
});
