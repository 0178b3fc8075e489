// What somebody at a terminal sees before the program is loaded, and that the progress line takes it over.
import { describe, expect, it } from "vitest";
import { showFirstSign } from "../../src/main.ts";
import type { Streams } from "../../src/surfaces/cli/io.ts";
import { createProgressBar } from "../../src/surfaces/cli/terminal.ts";

function makeTerminal(isTTY = true) {
  let written = "";
  const stream = {
    isTTY,
    columns: 80,
    write(text: string) {
      written += text;
      return true;
    },
  } as unknown as Streams["stderr"];
  return { stream, read: () => written };
}

const see = (argv: readonly string[], isTTY = true) => {
  const terminal = makeTerminal(isTTY);
  const isShown = showFirstSign(argv, () => terminal.stream);
  return isShown === null ? null : terminal.read();
};
const STEP = { label: "looking at the tree", done: 0 };
const SIGN = "\r\u001b[Klooking at the tree ...";

describe("the first sign", () => {
  it("comes for commands that look at the tree, wherever flags of the whole program are", () => {
    expect(see(["agent", "--goal", "x", "--", "true"])).toBe(SIGN);
    expect(see(["-C", "agent", "agent", "verify", "@"])).toBe(SIGN);
    expect(see(["--json", "agent", "apply", "@"])).toBe(SIGN);
  });

  it("does not come in a pipe, nor for whoever wants none, nor for anything else", () => {
    expect(see(["agent", "--goal", "x", "--", "true"], false)).toBeNull();
    expect(see(["agent", "--quiet", "--goal", "x", "--", "true"])).toBeNull();
    expect(see(["agent", "--no-progress", "--goal", "x", "--", "true"])).toBeNull();
    expect(see(["agent", "verify", "--help"])).toBeNull();
    expect(see(["agent", "show", "@"])).toBeNull();
    expect(see(["-C", "agent", "list"])).toBeNull();
    expect(see(["catalytic", "run", "--", "agent"])).toBeNull();
    // A flag of the agent's own command is not ours.
    expect(see(["agent", "--goal", "x", "--", "tool", "--quiet"])).toBe(SIGN);
  });

  it("is wiped by whoever writes next, once", () => {
    const { stream, read } = makeTerminal();
    const bar = createProgressBar(stream, true, STEP);
    bar.end();
    bar.end();
    expect(read()).toBe("\r\u001b[K");
  });

  it("stays as a line with its time when the work it speaks of is done, and is not wiped", () => {
    const { stream, read } = makeTerminal();
    const bar = createProgressBar(stream, true, STEP);
    const unit = "files, 11 changed since last time";
    bar.report({ label: "looking at the tree", done: 27_104, unit, ended: true });
    bar.end();
    expect(read()).toMatch(
      /^\r\u001b\[Klooking at the tree {2}27,104 files, 11 changed since last time {2}[0-9.]+ m?s\n$/,
    );
  });

  it("becomes the line of the first report", () => {
    const { stream, read } = makeTerminal();
    const bar = createProgressBar(stream, true, STEP);
    bar.report({ label: "looking at the tree", done: 3, total: 12 });
    bar.end();
    expect(read()).toBe("\r\u001b[K██████░░░░░░░░░░░░░░░░░░ looking at the tree  3 of 12\r\u001b[K");
  });
});
