import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../test/support/bare-run.ts";
import type { NextStep } from "../dispatch/next-step.ts";
import type { Zipper } from "../ports.ts";
import { readEvents } from "./record/run-log.ts";
import type { Run } from "./run.ts";
import { Session, withSession } from "./session.ts";

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("a session that was asked to end by %s says so, and the program ends with %i", (signal, exit) => {
  const session = new Session({} as never, {} as never, new AbortController().signal, () => signal);
  expect(() => session.throwIfInterrupted()).toThrow(
    expect.objectContaining({ code: "INTERRUPTED", details: { signal }, exit }) as Error,
  );
});

it("a session that nobody interrupted goes on", () => {
  const session = new Session({} as never, {} as never, new AbortController().signal, () => null);
  expect(session.throwIfInterrupted()).toBeUndefined();
});

describe("a session of a run", () => {
  let bare: BareRuns;
  let run: Run;
  /** What was put into the last bundle; folders have no bytes. */
  let packed: Map<string, Uint8Array | null>;
  const zipper: Pick<Zipper, "pack"> = {
    pack(entries) {
      packed = new Map(entries.map(({ name, bytes }) => [name, bytes]));
      return new Uint8Array(1);
    },
  };
  const lines = (name: string) => Buffer.from(packed.get(name)!).toString();
  beforeEach(async () => {
    bare = await openBareRuns({ zipper });
    run = bare.make("one");
  });
  afterEach(() => bare.remove());

  const events = () => readEvents(run).map(({ event, path }) => `${event} ${path}`.trim());
  const waits = (more: Partial<NextStep> = {}): NextStep =>
    ({ state: "blocked", owner: "chair", action: "write", target: "a.md", code: "A_MISSING", ...more }) as NextStep;

  it("says what the run waits for once, and again when it is something else", async () => {
    const session = await bare.session(run);
    await session.block(waits(), "write a.md");
    await session.block(waits(), "write a.md");
    expect(events()).toEqual(["RUN_BLOCKED a.md"]);
    expect(bare.again(run).state).toMatchObject({
      status: "blocked",
      blocked: { code: "A_MISSING", message: "write a.md", owner: "chair", action: "write", target: "a.md" },
    });
    await session.block(waits(), "write a.md, please");
    await session.block(waits({ owner: null, action: null, target: null, code: "VERIFY_FAILED" }), "it failed");
    expect(events()).toEqual(["RUN_BLOCKED a.md", "RUN_BLOCKED a.md", "RUN_BLOCKED"]);
    expect(bare.again(run).state).toMatchObject({
      status: "fail",
      blocked: { code: "VERIFY_FAILED", message: "it failed", owner: "", action: "", target: "" },
    });
  });

  it("bundles every file as it is, and says of what is missing that it is missing", async () => {
    run.folder.write("artifacts/PLAN.md", "plan\n");
    run.folder.write("logs/verify.stdout.log", "out\n");
    run.folder.write("superseded/old", "old\n");
    await (await bare.session(run)).bundle();
    expect([lines("artifacts/PLAN.md"), lines("logs/verify.stdout.log")]).toEqual(["plan\n", "out\n"]);
    expect(lines("artifacts/diff.patch")).toBe(
      "placeholder: artifacts/diff.patch did not exist when this bundle was made\n",
    );
    expect([packed.has("superseded/old"), packed.get("reviews/")]).toEqual([false, null]);
    expect(run.folder.size("failure_bundle.zip")).toBe(1);
    expect(events()).toEqual(["BUNDLE_CREATED failure_bundle.zip"]);
    expect(run.read("outbox/FIX_BRIEF.md")).toBeNull();
  });

  it("shortens a log that is very large to its beginning and its end, and nothing else", async () => {
    const most = 16 * 1024 * 1024;
    const large = new Uint8Array(most + 1).fill(0x61);
    large[0] = 0x62;
    large[most] = 0x63;
    for (const name of ["logs/large.log", "artifacts/large.md"]) run.folder.write(name, large);
    run.folder.write("logs/most.log", large.subarray(0, most));
    await (await bare.session(run)).bundle();
    const kept = lines("logs/large.log");
    const marker = `\n... ${most + 1 - 2 * 1024 * 1024} bytes left out of this bundle ...\n`;
    expect(kept.length).toBe(2 * 1024 * 1024 + marker.length);
    expect([kept[0], kept.at(-1), kept.slice(1024 * 1024, 1024 * 1024 + marker.length)]).toEqual(["b", "c", marker]);
    expect([packed.get("artifacts/large.md")!.length, packed.get("logs/most.log")!.length]).toEqual([most + 1, most]);
  });

  it("ends a run for good, and tells what failed to who would fix it", async () => {
    const sha256 = run.ports.crypto.sha256("patch");
    run.folder.write("artifacts/diff.patch", "patch");
    run.folder.write("artifacts/PLAN.md", "plan");
    const plan_sha256 = run.hash("artifacts/PLAN.md")!;
    run.save({ candidates: [{ sha256, plan_sha256, state: "rejected", code: "PATCH_SCOPE" }] });
    await (await bare.session(run)).stop("rejections", "STOP_REJECTIONS", { most: 3 });
    expect(bare.again(run).state).toMatchObject({ status: "fail", stop_reason: "rejections", blocked: null });
    expect(readEvents(run)[0]).toMatchObject({ event: "STOP_REJECTIONS", reason: "rejections", most: 3 });
    expect(events().at(-1)).toBe("BUNDLE_CREATED failure_bundle.zip");
    expect(run.read("outbox/FIX_BRIEF.md")).not.toBeNull();
  });

  it("holds the tree while it works on it, whatever happens", async () => {
    const told: string[] = [];
    const lockTree = (id: string) => (told.push(`lock ${id}`), Promise.resolve(() => void told.push("unlock")));
    const session = await bare.session(Object.assign(run, { ports: { ...bare.ports, lockTree } }));
    expect(await session.withTree(() => told.push("work"))).toBe(2);
    await expect(session.withTree(() => Promise.reject(new RangeError("broken")))).rejects.toThrow(RangeError);
    expect(told).toEqual(["lock one", "work", "unlock", "lock one", "unlock"]);
  });

  it("holds the lock of the run, hears who asks it to end, and lets go of both", async () => {
    let ask = (_: string) => {};
    let isHeard = true;
    const interrupts = { listen: (hear: (name: string) => void) => ((ask = hear), () => void (isHeard = false)) };
    const ports = { ...bare.ports, interrupts } as never;
    await withSession(ports, run.folder, "test", async (session) => {
      await expect(withSession(ports, run.folder, "other", () => Promise.resolve())).rejects.toMatchObject({
        code: "RUN_LOCKED",
      });
      isHeard = true;
      expect([session.repaired, session.signal.aborted]).toEqual([null, false]);
      session.throwIfInterrupted();
      for (const name of ["SIGTERM", "SIGINT"]) ask(name);
      expect(session.signal.aborted).toBe(true);
      expect(() => session.throwIfInterrupted()).toThrow(expect.objectContaining({ exit: 143 }) as Error);
    });
    expect(isHeard).toBe(false);
    await expect(
      withSession(ports, run.folder, "test", () => Promise.reject(new RangeError("broken"))),
    ).rejects.toThrow(RangeError);
    expect(await withSession(ports, run.folder, "test", () => Promise.resolve("done"))).toBe("done");
  });

  it("is refused over a run of another repository", async () => {
    const other = bare.make("away", { repo_root: "/elsewhere", repo_id: "1".repeat(32) });
    await expect(withSession(bare.ports, other.folder, "test", () => Promise.resolve())).rejects.toMatchObject({
      code: "RUN_OTHER_REPO",
    });
  });
});
