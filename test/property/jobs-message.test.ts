import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatCanonical, type JsonObject, type JsonValue, parseJson } from "../../src/core/canonical/index.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import { toJobId, toMessageId } from "../../src/rooms/jobs/message/ids.ts";
import { checkMessage, parseMessage } from "../../src/rooms/jobs/message/message.ts";
import { postMessage } from "../../src/rooms/jobs/message/post.ts";
import { makeMessage, read } from "../support/job-corpus.ts";
import { createSqliteJobs, type JobHarness, type JobPortsOfTest, kindsOf, RUN, readJob } from "../support/job-store.ts";

const GOOD = makeMessage(
  [
    read("@CANON/TIDES", undefined, "tides"),
    read("@CANON/LAMPS", "lines[0:2]"),
    { type: "WRITE", target: "@TOOLS/BELL", params: { patch: "--- a\n+++ b\n" } },
    { type: "EXECUTE", target: "@TOOLS/BELL", params: {} },
  ],
  { required_outputs: ["tides"] },
);

const ODD = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => parseJson(JSON.stringify(value))),
  fc.constantFrom<JsonValue>(
    "",
    "@",
    "@CANON/GONE",
    "head(0)",
    "lines[0:99999999999999999999]",
    "ALL",
    "READ",
    -1,
    2n ** 53n,
    [],
  ),
  fc.constantFrom("1.0", "1e3", "-0", "9007199254740993", '{"a":1.0}').map((text) => parseJson(text)),
  fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
);

/** Where in the message a change happens: keys are taken as far as they exist. */
const change = fc.record({
  path: fc.array(fc.nat({ max: 9 }), { maxLength: 4 }),
  how: fc.constantFrom("replace", "remove", "add", "repeat"),
  key: fc.oneof(fc.constantFrom("slice", "output", "patch", "__proto__", "refs", ""), fc.string()),
  value: ODD,
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

/** A copy with one change somewhere inside. */
function mutate(value: JsonValue, { path, how, key, value: odd }: Change): JsonValue {
  const [first, ...rest] = path;
  if (typeof value !== "object" || value === null || first === undefined) return how === "replace" ? odd : apply(value);
  const entries = Object.entries(value as JsonObject);
  if (entries.length === 0) return apply(value);
  const at = first % entries.length;
  if (rest.length === 0 && how === "remove") entries.splice(at, 1);
  else entries[at] = [entries[at]![0], mutate(entries[at]![1], { path: rest, how, key, value: odd })];
  return Array.isArray(value) ? entries.map(([, item]) => item) : toObject(entries);

  function apply(target: JsonValue): JsonValue {
    if (Array.isArray(target)) return how === "repeat" ? [...target, ...target] : [...target, odd];
    if (typeof target === "object" && target !== null)
      return toObject([...Object.entries(target), [key.toWellFormed(), odd]]);
    return odd;
  }
}

function toObject(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  const object = Object.create(null) as JsonObject;
  for (const [key, value] of entries) object[key] = value;
  return object;
}

describe("messages from anywhere", () => {
  let harness: JobHarness;
  let ports: JobPortsOfTest;

  beforeAll(async () => {
    harness = await createSqliteJobs();
    ports = await harness.open();
  });

  afterAll(async () => {
    await harness.destroy();
  });

  it("are parsed or refused with a code and exit 2, whatever their bytes", () => {
    const text = new TextEncoder().encode(formatCanonical(GOOD));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(fc.nat({ max: text.length - 1 }), fc.integer({ min: 0, max: 255 }))
        .map(([at, byte]) => text.with(at, byte)),
      fc.nat({ max: text.length }).map((length) => text.slice(0, length)),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        try {
          expect(checkMessage(parseMessage(input) as unknown as JsonValue)).toEqual([]);
        } catch (thrown) {
          expect(thrown).toSatisfy(isVerbatimError);
          expect(thrown).toMatchObject({ exit: 2 });
        }
      }),
      { numRuns: 2000, seed: 3 },
    );
  });

  it("become a job exactly as they are, or are refused with every problem and leave a record of it", async () => {
    const counts = { accepted: 0, MESSAGE_INVALID: 0, MESSAGE_UNRESOLVED: 0 };
    const target = fc.constantFrom("@CANON/TIDES", "@CANON/LAMPS", "@CANON/TIDES", "@CANON/GONE");
    const op = fc.tuple(target, fc.constantFrom("head(1)", "lines[0:2]", "head(99)")).map((one) => read(...one));
    const message = fc.array(op, { minLength: 1, maxLength: 3 }).map((ops) => makeMessage(ops));
    const mutated = fc
      .tuple(message, fc.array(change, { maxLength: 2 }))
      .map(([base, changes]) => changes.reduce<JsonValue>(mutate, base));
    await fc.assert(
      fc.asyncProperty(mutated, async (value) => {
        const id = toJobId(ports.crypto, toMessageId(ports.crypto, RUN, value));
        harness.clock.advance(60_000);
        try {
          const { job } = await postMessage(ports, value, RUN);
          const stored = await ports.store.read(({ jobs }) => jobs.job(job.job_id));
          expect(formatCanonical(stored!.message)).toBe(formatCanonical(value));
          counts.accepted++;
        } catch (thrown) {
          if (!isVerbatimError(thrown)) throw thrown;
          expect(["MESSAGE_INVALID", "MESSAGE_UNRESOLVED"]).toContain(thrown.code);
          expect((thrown.details!["problems"] as unknown[]).length).toBeGreaterThan(0);
          counts[thrown.code as "MESSAGE_INVALID"]++;
          expect(kindsOf((await readJob(ports, id)).entries).at(-1)).toBe("MESSAGE_REFUSED");
        }
      }),
      { numRuns: 400, seed: 6 },
    );
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(10);
  });

  it("with a very long list of refs or problems are judged in time that grows with their length only", async () => {
    const judge = async (count: number) => {
      const refs = Array.from({ length: count }, (_, i) => `@GONE/N${i}`);
      const message = makeMessage(GOOD.ops, { refs: [...GOOD.refs, ...refs, ...refs] });
      const error = await postMessage(ports, message, RUN).catch((thrown: unknown) => thrown);
      return (error as { details: { problems: unknown[] } }).details.problems.length;
    };
    // The two operations that this build cannot do are problems as well.
    expect(await judge(20_000)).toBe(20_002);
  });
});
