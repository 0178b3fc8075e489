import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { MISSING, quote, Terminal, WHY } from "../support/terminal.ts";

/** Agents in a terminal. The terminal of the user is one made by `script`; typing is writing to its standard input. */

function makeSample(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("src/lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

function open(repo: AgentRepo, flags: readonly string[], script: string, around = (line: string) => line): Terminal {
  const words = [process.execPath, BIN, "agent", "--goal", "x", ...flags, "--", "sh", "-c", script];
  return new Terminal(repo, `stty rows 33 cols 101; ${around(words.map(quote).join(" "))}`);
}

function readLogs(repo: AgentRepo): string {
  const runs = join(repo.root, ".verbatim/runs");
  return readdirSync(runs)
    .filter((name) => /^[0-9a-z]/.test(name))
    .map((name) => readFileSync(join(runs, name, "STDOUT.log"), "utf8"))
    .join("");
}

describe("an agent in a terminal", () => {
  it("has one of its own: it asks, is answered, knows the size, hears Ctrl-C, and is recorded", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const agent = `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo "all three $(stty size)"
      printf '\\033[32mname?\\033[0m '; read name; echo "hello $name" >&2
      trap 'echo heard; echo on > src/lamp.txt; exit 0' INT
      echo working; while :; do sleep 0.05; done`;
    const terminal = open(repo, ["--no-verify"], agent);
    await terminal.until("all three 33 101");
    await terminal.until("\u001b[32mname?");
    terminal.type("Mira\r");
    await terminal.until("hello Mira");
    await terminal.until("working");
    terminal.type("\u0003");
    await terminal.until("heard");
    await terminal.until("[Enter] keep for later");
    await terminal.until("> ");
    // Keys that come with the question are thrown away; this one comes after.
    terminal.type("a");
    await terminal.until("applied 1 file, unverified");
    expect((await terminal.end()).exit).toBe(0);
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("on\n");
    expect(readLogs(repo)).toMatch(/hello Mira\r\n.*working\r\n.*heard\r\n/s);
  });

  it("ends when Ctrl-C is pressed again and again although it does not listen, and the terminal is as it was", async ({
    skip,
  }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const agent =
      "trap '' INT; stty raw -echo; printf '\\033[?1049h\\033[?25l'; echo deaf; while :; do sleep 0.05; done";
    const around = (line: string) => `a=$(stty -g); ${line}; code=$?; [ "$a" = "$(stty -g)" ] && echo same $code`;
    const terminal = open(repo, ["--no-verify"], agent, around);
    await terminal.until("deaf");
    for (let i = 0; i < 6; i++) terminal.type("\u0003");
    await terminal.until("\u001b[?1049l");
    await terminal.until("\u001b[?25h");
    await terminal.until("same 130");
    await terminal.end();
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("off\n");
  });

  it("cannot answer the question, neither by typing into its terminal nor by what was typed too early", async ({
    skip,
  }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const typing = 'for my $c (split //, "y\\r\\nid\\n") { ioctl(STDIN, 0x5412, $c) }';
    const agent = `echo on > src/lamp.txt; perl -e ${quote(typing)}; echo early; read typed`;
    const pending = 'perl -e \'$n = pack("i", 0); ioctl(STDIN, 0x541B, $n); print "left ", unpack("i", $n), "\\n"\'';
    const terminal = open(repo, ["--verify", "sleep 0.5"], agent, (line) => `${line}; ${pending}`);
    await terminal.until("early");
    terminal.type("\r\r\ry\r");
    await terminal.until("[Enter] keep for later");
    await terminal.until("> ");
    terminal.type("\r");
    await terminal.until("kept: verbatim agent apply");
    await terminal.until("left 0");
    await terminal.end();
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("off\n");
  });

  it("is followed by a question whose every answer does what it says, and the default nothing", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    await repo.agent(["--no-verify"], ["true"]);
    repo.write("src/oil.txt", "full\n");
    const agent = "echo on > src/lamp.txt; echo new > src/wick.txt";
    const terminal = open(repo, ["--verify", "grep -q on src/lamp.txt"], agent);
    const begun = await terminal.until("your tree is read-only to the agent");
    expect(begun).toContain("looking at the tree ...");
    expect(begun).toMatch(/looking at the tree {2}[0-9]+ files, 1 changed since last time {2}[0-9.]+ m?s\r\n/);
    const ask = async () => {
      await terminal.until("a apply   d show the diff   r choose parts   x throw away");
      await terminal.until("> ");
    };
    const report = await terminal.until("verified. Nothing is applied yet.");
    expect(report).toMatch(/✓ policy.*✓ verify.*✓ your tree/s);
    await ask();
    terminal.type("d");
    await terminal.until("+on");
    await ask();
    terminal.type("r");
    await terminal.until("hunk 1 of 2, file 1 of 2");
    terminal.type("q");
    await ask();
    terminal.type("x");
    await terminal.until("[Enter] no");
    await terminal.until("> ");
    terminal.type("\r");
    await ask();
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("off\n");
    terminal.type("r");
    await terminal.until("hunk 1 of 2, file 1 of 2");
    terminal.type("yw");
    await terminal.until("y verify it now");
    terminal.type("y");
    await terminal.until("apply 1 hunk in 1 file, +1 -1 to your tree?");
    terminal.type("y");
    await terminal.until("applied 1 file. Undo: verbatim agent undo");
    expect((await terminal.end()).exit).toBe(0);
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("on\n");
    expect(existsSync(join(repo.root, "src/wick.txt"))).toBe(false);
  });

  it("is asked before a change is applied that nobody verified, unless --yes says so", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    await repo.agent(["--no-verify"], ["sh", "-c", "echo on > src/lamp.txt"]);
    const apply = (...flags: string[]) => {
      return new Terminal(repo, [process.execPath, BIN, "agent", "apply", "@", ...flags].map(quote).join(" "));
    };
    const asked = apply();
    await asked.until("! no command verified this change");
    await asked.until("> ");
    asked.type("d");
    await asked.until("+on");
    await asked.until("> ");
    asked.type("\r");
    expect(await asked.end()).toEqual({ exit: 4, rest: expect.stringContaining("nothing was applied") });
    expect(readFileSync(join(repo.root, "src/lamp.txt"), "utf8")).toBe("off\n");
    expect(await apply("--yes").end()).toEqual({
      exit: 0,
      rest: expect.stringContaining("applied 1 file, unverified"),
    });
  });

  it("is captured when the terminal is closed, and the exit says that it was interrupted", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const file = join(repo.base, "exit");
    // As a shell does: it hears that the terminal is gone, and passes that on to what runs in it.
    const perl =
      "$p = fork; exec @ARGV if !$p; $SIG{HUP} = sub { kill HUP => $p }; 1 until waitpid($p, 0) == $p; " +
      'open(F, ">", "$ENV{TOLD}.new"); print F $?; close F; rename "$ENV{TOLD}.new", $ENV{TOLD}';
    const around = (line: string) => `TOLD=${quote(file)} exec perl -e ${quote(perl)} ${line}`;
    const terminal = open(repo, ["--no-verify"], "echo on > src/lamp.txt; echo READY; exec sleep 300", around);
    await terminal.until("READY");
    terminal.hangUp();
    await expect.poll(() => existsSync(file), { timeout: 200_000 }).toBe(true);
    expect(readFileSync(file, "utf8")).toBe(String(143 << 8));
    const shown = JSON.parse((await repo.verbatim("agent", "show", "@", "--json")).stdout) as { summary: object };
    expect(shown.summary).toMatchObject({ outcome: "interrupted", changes: { files: [{ path: "src/lamp.txt" }] } });
  });

  it("does not see the other terminals of the machine", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const terminal = open(repo, ["--no-verify"], 'echo "seen: $(ls /dev/pts) at $(tty)"');
    await terminal.until("seen: ptmx at /dev/console");
    expect((await terminal.end()).exit).toBe(0);
  });

  it("hears when the user's terminal gets another size", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const agent = `echo "size $(stty size)"; until [ "$(stty size)" = "40 77" ]; do sleep 0.05; done; echo "now $(stty size)"`;
    const terminal = open(repo, ["--no-verify"], agent, (line) => `echo "at $(tty) end"; ${line}`);
    await terminal.until("at ");
    const at = await terminal.until(" end");
    await terminal.until("size 33 101");
    execFileSync("stty", ["-F", at, "rows", "40", "cols", "77"]);
    await terminal.until("now 40 77");
    expect((await terminal.end()).exit).toBe(0);
  });

  it("loses nothing of a long output", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const terminal = open(repo, ["--no-verify"], "seq 1 60000");
    expect((await terminal.end()).exit).toBe(0);
    const expected = Array.from({ length: 60_000 }, (_, i) => `${i + 1}\r\n`).join("");
    expect(readLogs(repo) === expected).toBe(true);
  });
});

describe("an agent whose output is a pipe", () => {
  it("can read the user's terminal and cannot type into it", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const repo = makeSample();
    const probe =
      '$| = 1; print -t STDIN ? "terminal\\n" : "none\\n"; $_ = "x"; print ioctl(STDIN, 0x5412, $_) ? "typed\\n" : "refused\\n";';
    const terminal = open(repo, ["--no-verify"], `perl -e ${quote(probe)}`, (line) => `${line} | cat`);
    await terminal.until("terminal\r\nrefused\r\n");
    expect((await terminal.end()).exit).toBe(0);
  });
});
