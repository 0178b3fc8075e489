// A kill at every write of apply and of rollback; a rollback afterwards always leaves the repository as it was.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { type Composition, compose } from "../../src/app/compose/compose.ts";
import { workflowPorts } from "../../src/app/compose/workflow.ts";
import type { RunFolder } from "../../src/rooms/workflow/ports.ts";
import { advanceRun } from "../../src/rooms/workflow/run/advance.ts";
import { rollBackRun } from "../../src/rooms/workflow/run/apply/rollback.ts";
import { type Session, withSession } from "../../src/rooms/workflow/run/session.ts";
import { COMMAND, GOOD_PATCH, SampleRepository } from "../support/sample-repository.ts";

/** Modifies, deletes, creates, turns a file into a folder and a folder into a file. */
const PATCH = `${GOOD_PATCH}diff --git a/src/list.js b/src/list.js
deleted file mode 100644
--- a/src/list.js
+++ /dev/null
@@ -1 +0,0 @@
-export const names = [];
diff --git a/src/list.js/part.js b/src/list.js/part.js
new file mode 100755
--- /dev/null
+++ b/src/list.js/part.js
@@ -0,0 +1 @@
+export {};
diff --git a/src/old b/src/old
new file mode 100644
--- /dev/null
+++ b/src/old
@@ -0,0 +1 @@
+a file now
diff --git a/src/old/deep/x.js b/src/old/deep/x.js
deleted file mode 100644
--- a/src/old/deep/x.js
+++ /dev/null
@@ -1 +0,0 @@
-export {};
`;

const repository = new SampleRepository(
  { apply: "never", verify: { gates: { lite: [{ argv: COMMAND }] } } },
  { "src/old/deep/x.js": "export {};\n" },
);
const saved = join(repository.folder, "saved");
const OPTIONS = {
  surface: "library",
  start: repository.root,
  env: repository.env,
  platform: process.platform,
} as const;

let before: Record<string, string>;
let dir: string;

function keep(name: string): void {
  for (const part of ["sample", "runs"]) {
    cpSync(join(repository.folder, part), join(saved, name, part), { recursive: true, preserveTimestamps: true });
  }
}

function bringBack(name: string): void {
  for (const part of ["sample", "runs"]) {
    rmSync(join(repository.folder, part), { recursive: true, force: true });
    cpSync(join(saved, name, part), join(repository.folder, part), { recursive: true, preserveTimestamps: true });
  }
}

beforeAll(async () => {
  before = repository.manifest();
  dir = await repository.plan("undo");
  await repository.submit("diff.patch", PATCH, "undo");
  expect(await repository.call("advance", { run: "undo" })).toMatchObject({ code: "CANDIDATE_VERIFIED" });
  await repository.app.close();
  keep("verified");
});
afterAll(() => repository.remove());

class Killed extends Error {}

/** Runs some work whose process dies just before its `moment`-th write: from then on nothing reaches the disk. */
async function dieAt(moment: number, work: (session: Session) => Promise<unknown>): Promise<boolean> {
  const composition: Composition = compose(OPTIONS, () => openApp(OPTIONS));
  let writes = 0;
  const mortal = <T extends object>(target: T, names: readonly (keyof T)[]): T =>
    new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (names.includes(name as keyof T) && writes++ >= moment) throw new Killed();
          return Reflect.apply(value, object, args) as unknown;
        };
      },
    });
  try {
    const real = await workflowPorts(composition, "mutate");
    const ports = {
      ...real,
      repoFiles: mortal(real.repoFiles, ["put", "drop"]),
      git: mortal(real.git, ["apply"]),
    };
    const folder: RunFolder = mortal(real.runs.open("undo")!, ["write", "append", "remove", "writeAll"]);
    await withSession(ports, folder, "test", work);
    return true;
  } catch (thrown) {
    if (thrown instanceof Killed) return false;
    throw thrown;
  } finally {
    await composition.close();
  }
}

async function rollBackAgain(): Promise<Record<string, unknown>> {
  const app = openApp(OPTIONS);
  try {
    return (await app.call("workflow.rollback", { run: "undo" })) as Record<string, unknown>;
  } finally {
    await app.close();
  }
}

const leftBeside = () =>
  readdirSync(join(repository.root, "src"), { recursive: true }).filter((name) => String(name).includes(".tmp-"));

const state = () => JSON.parse(readFileSync(join(dir, "RUN.json"), "utf8")) as Record<string, unknown>;
const events = () =>
  readFileSync(join(dir, "events.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event);

const apply = (session: Session) => advanceRun(session, { maxSteps: 4, apply: true, retryVerify: false });

describe("a rollback", () => {
  it("leaves the repository as it was, whenever the apply before it was killed", async () => {
    const outcomes = new Set<string>();
    // Before the fifth write nothing but the snapshot is written.
    for (let moment = 0; ; moment += moment === 0 ? 5 : 1) {
      bringBack("verified");
      const isOver = await dieAt(moment, apply);
      const started = events().includes("APPLY_STARTED");
      const answer = await rollBackAgain().catch((thrown: { code: string }) => thrown.code);
      // Before the apply began there is nothing to take back, and the run can still be applied.
      if (started) expect(answer).toMatchObject({ stop_reason: "rolled_back" });
      else expect(["RUN_NOT_PASSED", "object"]).toContain(typeof answer === "string" ? answer : "object");
      expect(repository.manifest()).toEqual(before);
      expect(leftBeside()).toEqual([]);
      expect(state()).toMatchObject(
        typeof answer === "string"
          ? { status: expect.not.stringMatching("pass"), stop_reason: null }
          : { status: "fail", stop_reason: "rolled_back", in_progress: null },
      );
      outcomes.add(typeof answer === "string" ? answer : "rolled back");
      if (isOver) {
        expect(moment).toBeGreaterThan(10);
        break;
      }
    }
    expect([...outcomes].sort()).toEqual(["RUN_NOT_PASSED", "rolled back"]);
  });

  it("is finished by a second one, whenever it was killed itself", async () => {
    bringBack("verified");
    expect(await dieAt(Number.POSITIVE_INFINITY, apply)).toBe(true);
    expect(readFileSync(join(repository.root, "src/old"), "utf8")).toBe("a file now\n");
    expect(existsSync(join(repository.root, "src/list.js/part.js"))).toBe(true);
    keep("applied");
    for (let moment = 0; ; moment++) {
      bringBack("applied");
      const isOver = await dieAt(moment, rollBackRun);
      expect(await rollBackAgain()).toMatchObject({ stop_reason: "rolled_back" });
      expect(repository.manifest()).toEqual(before);
      expect(state()).toMatchObject({ status: "fail", stop_reason: "rolled_back", in_progress: null });
      expect(events().filter((event) => event === "RUN_ROLLED_BACK")).toHaveLength(1);
      expect(events().at(-1)).toBe("BUNDLE_CREATED");
      if (isOver) {
        expect(moment).toBeGreaterThan(8);
        break;
      }
    }
  });

  it("never overwrites what somebody wrote after it was killed", async () => {
    bringBack("applied");
    // The journal, then two of the files.
    expect(await dieAt(3, rollBackRun)).toBe(false);
    repository.write("src/greet.js", "mine\n");
    await expect(rollBackAgain()).rejects.toMatchObject({ code: "ROLLBACK_CONFLICT" });
    expect(repository.read("src/greet.js")).toBe("mine\n");
  });

  it("names what stands in the way of a file that comes back", async () => {
    bringBack("applied");
    repository.write("src/list.js/own.js", "mine\n");
    await expect(rollBackAgain()).rejects.toMatchObject({
      code: "ROLLBACK_CONFLICT",
      details: { paths: ["src/list.js/own.js"] },
    });
  });

  /** A file of the run after somebody was at it; null: gone. */
  const damage = (file: string, change: (text: string) => string | null) => {
    const place = join(dir, file);
    const text = change(readFileSync(place, "utf8"));
    if (text === null) rmSync(place);
    else writeFileSync(place, text);
  };

  it.each<[string, (text: string) => string | null, string, string]>([
    ["artifacts/patch_apply.json", () => "{", "", "is not JSON"],
    ["artifacts/patch_apply.json", (text) => text.replace('"pre"', '"was"'), "#/files/0/pre", "/files/0/pre"],
    ["snapshot/01/manifest.json", (text) => text.slice(0, -3), "", "is not JSON"],
    ["snapshot/01/manifest.json", (text) => text.replace(/"100644"/, "7"), "#/files/0/mode", "/files/0/mode"],
    ["snapshot/01/manifest.json", (text) => text.replace(/"100644"/, "null"), "#/files/0", "has no mode"],
    ["snapshot/01/0.bytes", (text) => `${text} `, "", "does not match its recorded hash"],
    ["snapshot/01/0.bytes", () => null, "", "is missing"],
  ])("is refused with the place when %s is damaged, and changes nothing", async (file, change, place, message) => {
    bringBack("applied");
    const applied = repository.manifest();
    damage(file, change);
    await expect(rollBackAgain()).rejects.toMatchObject({
      code: "RUN_CORRUPT",
      where: `${join(dir, file)}${place}`,
      message: expect.stringContaining(message),
    });
    expect(repository.manifest()).toEqual(applied);
  });

  it("has nothing to take back where what the gate wrote down is damaged: such a run is not applied", async () => {
    bringBack("verified");
    damage("artifacts/patch_gate.json", (text) => text.replace('"patch_sha256"', '"other"'));
    await expect(dieAt(Number.POSITIVE_INFINITY, apply)).rejects.toMatchObject({
      code: "RUN_CORRUPT",
      where: `${join(dir, "artifacts/patch_gate.json")}#/patch_sha256`,
    });
    expect(repository.manifest()).toEqual(before);
  });
});
