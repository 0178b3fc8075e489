import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BIN } from "../support/cli.ts";
import { runInProcess } from "../support/cli-in-process.ts";

// The verbs of the world room as somebody types them; what they mean is tested where the room is.

let root: string;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-world-cli-")));
  const made = await run("new", "Gull Rock", "--person", "ANA=Ana", "--timezone", "UTC", "--start", "2026-01-01T07:30");
  expect(made.exit, made.stderr).toBe(0);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const run = (...line: string[]) => runInProcess(["world", ...line], root);

describe("help", () => {
  it("says in one sentence what each word is for", async () => {
    const { stdout } = await run("--help");
    const text = stdout.replace(/\s+/g, " ");
    for (const sentence of [
      "The clock: show, declare, pause, resume, policy.",
      "The people: list, add, name, presence, token.",
      "Calendar and messages: show, event, close, message.",
    ]) {
      expect(text).toContain(sentence);
    }
    expect(text.match(/Lets a beat pass without saying anything\./g)).toHaveLength(1);
  });

  it("tells the beats of a clock apart", async () => {
    const text = (await run("time", "--help")).stdout.replace(/\s+/g, " ");
    expect(text).toContain("Sets the time of the world");
    expect(text).toContain("Stops the clock of the world");
    expect(text).toContain("Restarts the clock of the world");
  });
});

describe("time", () => {
  it("says where the clock stands after a declaration, on the line that is not part of the story", async () => {
    const { exit, stdout, stderr } = await run("time", "declare", "2026-01-01T09:15");
    expect(exit).toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toContain("nothing was said; clock 2026-01-01T09:15:00+00:00 (UTC)");
  });
});

describe("lore", () => {
  it("that is not there is neither shown nor turned off", async () => {
    for (const verb of ["show", "off"]) {
      const { exit, stdout, stderr } = await run("lore", verb, "lighthouse");
      expect([exit, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("error[LORE_NOT_FOUND]");
      expect(stderr).toContain("where: lighthouse");
    }
  });
});

describe("a proposal that is refused", () => {
  it("keeps a line that was said, and speaks of none where none was said", async () => {
    const script = join(root, "script.jsonl");
    const wrong = '{"when":{"any":true},"output":{"proposed_write_bundle":{"entries":[{}]}}}';
    writeFileSync(script, `${wrong}\n${wrong}\n`);
    expect((await run("new", "Other", "--script", script)).exit).toBe(0);
    const said = await run("say", "Hello.", "--world", "w_other");
    expect(said.stdout).toBe("Hello.\n");
    expect(said.stderr).toContain("the writer's proposal was rejected (FIELD_MISSING); your line was kept; cursor");
    const beat = await run("beat", "--world", "w_other");
    expect(beat.stdout).toBe("");
    expect(beat.stderr).toContain("the writer's proposal was rejected (FIELD_MISSING); cursor");
  });
});

describe("capsule", () => {
  it("of somebody without lines says so", async () => {
    const { exit, stdout, stderr } = await run("capsule", "ANA");
    expect([exit, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^cap:ANA:[0-9a-f]{16}: this view knows none of their lines$/m);
  });
});

describe("say -", () => {
  it("refuses bytes that are no text instead of keeping others", async () => {
    const { status, stderr } = spawnSync(process.execPath, [BIN, "-C", root, "world", "say", "-"], {
      input: Buffer.from([0x61, 0xff]),
      env: { ...process.env, HOME: root },
      encoding: "utf8",
    });
    expect(stderr).toContain("TEXT_NOT_WELL_FORMED");
    expect(status).toBe(2);
    expect((await run("stream")).stdout).toBe("");
  });
});

describe("names of worlds", () => {
  it("a fork is called after its title, and a title that is no name of one world says which it could be", async () => {
    const { stderr } = await run("say", "Hello.");
    const cursor = /cursor (c1\.\S+)/.exec(stderr)![1]!;
    const fork = async (...more: string[]) => (await run("fork", cursor, "--world", "w_gull-rock", ...more)).stdout;
    expect(await fork("--title", "Gull Bay")).toMatch(/^w_gull-bay from w_gull-rock at /);
    expect(await fork("--title", "Gull Bay")).toMatch(/^w_gull-bay-2 from /);
    expect(await fork()).toMatch(/^w_gull-rock-2 from /);
    const several = await run("show", "Gull B");
    expect(several.exit).toBe(2);
    expect(several.stderr).toContain("several titles start like this: w_gull-bay, w_gull-bay-2");
    expect((await run("show", "Gull Rock (")).stdout).toContain("w_gull-rock-2");
  });
});

describe("pocket", () => {
  it("lists items by time, those without one last", async () => {
    for (const item of [["Walk"], ["Ferry", "--at", "2026-01-02T09:00"], ["Tea", "--at", "2026-01-01T16:00"]]) {
      expect((await run("pocket", "event", ...item)).exit).toBe(0);
    }
    const { stdout } = await run("pocket");
    expect(stdout.match(/Walk|Ferry|Tea/g)).toEqual(["Tea", "Ferry", "Walk"]);
  });
});

describe("import", () => {
  it("of a world whose id is taken says under what it could come in", async () => {
    expect((await run("export", "--out", "rock.vworld.jsonl")).exit).toBe(0);
    const { exit, stderr } = await run("import", "rock.vworld.jsonl");
    expect(exit).toBe(1);
    expect(stderr).toContain("error[WORLD_EXISTS] the id w_gull-rock is taken");
    expect(stderr).toContain("--as NEW_ID");
    expect((await run("import", "rock.vworld.jsonl", "--as", "w_other")).exit).toBe(0);
  });
});

describe("new", () => {
  it.each([
    [["--id", "bad"], "fix: Write w_ followed by lower-case letters, digits and hyphens."],
    [["--writer", "ollama"], "fix: Name the model of the writer."],
    [["--timezone", "BST"], "fix: Use an IANA name such as Europe/London."],
  ])("%j is refused with what to do", async (flags, fix) => {
    const { exit, stderr } = await run("new", "Another", ...flags);
    expect(exit).toBe(2);
    expect(stderr).toContain(fix);
  });
});
