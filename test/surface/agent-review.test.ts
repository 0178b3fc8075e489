// Guards: what somebody takes in the review lands, and nothing else; nothing lands that was not verified as it lands; an
// answer that is not yes changes nothing; and whatever is in the change or ends the dialogue, the terminal is theirs again.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { MISSING, quote, Terminal, WHY } from "../support/terminal.ts";

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);

function text(...changes: readonly (readonly [line: number, text: string])[]): string {
  return `${LINES.map((line, i) => changes.find(([at]) => at === i + 1)?.[1] ?? line).join("\n")}\n`;
}

/** A name that turns around, a line that does the same, one that would write a title, a link, a file that can be run. */
const HOSTILE = `const a = "\u202e x"; \u001b]0;title\u0007\n`;
const AGENT = `sed -i '3s/.*/bell and line/; 6s/.*/buoy/; 30s/.*/rope/' lines.txt
printf '%s' "$EVIL" > "$(printf 'evil\\342\\200\\256.txt')"; ln -s lines.txt link; chmod +x run.sh`;

async function open(flags: readonly string[] = ["--verify-sh", "! grep -q bell lines.txt || grep -q rope lines.txt"]) {
  const repo = makeAgentRepo();
  repo.write("lines.txt", text());
  repo.write("run.sh", "exit\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const goal = ["--goal", "mend\u001b[2J the lamp", "--env", `EVIL=${HOSTILE}`];
  const { summary } = await repo.agent([...goal, ...flags], ["sh", "-c", AGENT]);
  const look = (words: readonly string[] = [], size = "rows 40 cols 110", around = (line: string) => line) => {
    const line = [process.execPath, BIN, "agent", "review", summary.run_id, ...words].map(quote).join(" ");
    return new Terminal(repo, `stty ${size}; ${around(line)}`);
  };
  return { repo, run: summary.run_id, outcome: summary.outcome, look, lines: () => readLines(repo) };
}

const readLines = (repo: AgentRepo) => readFileSync(join(repo.root, "lines.txt"), "utf8");
const KEYS = " help";
const SAME = (line: string) => `a=$(stty -g); ${line}; code=$?; [ "$a" = "$(stty -g)" ] && echo same $code`;
/** Everything that moves the cursor or paints, other than what a screen of ours sends. */
const OURS = /\u001b\[(?:[0-9;]*m|H|K|J|\?1049[hl]|\?25[hl]|\?2004[hl])/g;

function withPid({ base }: AgentRepo, line: string): string {
  writeFileSync(join(base, "script"), `echo $$ > ${base}/pid\nexec ${line}\n`);
  return `sh ${base}/script`;
}

const readPid = ({ base }: AgentRepo) => Number(readFileSync(join(base, "pid"), "utf8"));

describe("review in a terminal", () => {
  it("verifies what was taken and nothing else, and applies exactly that after a yes", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const { repo, outcome, look, lines } = await open();
    expect(outcome).toBe("verified");
    const terminal = look([], "rows 40 cols 110");
    const first = await terminal.until(KEYS);
    expect(first).toContain("hunk 1 of 5, file 1 of 4");
    expect(first).toContain("U+202E");
    expect(first.replace(OURS, "")).not.toMatch(/[\u001b\u0007\u202e]/);
    terminal.type("n");
    await terminal.until("hunk 2 of 5, file 2 of 4");
    terminal.type("s");
    await terminal.until("part 1.1");
    terminal.type("y");
    await terminal.until("taken 1 in 1 file, +1 -1");
    await terminal.until(KEYS);
    // A bell without its rope.
    terminal.type("v");
    await terminal.until("does not pass");
    terminal.type("w");
    await terminal.until("nothing was applied");
    terminal.type("/rope\r");
    await terminal.until("hunk 4 of 6");
    terminal.type("y");
    await terminal.until("taken 2 in 1 file, +2 -2");
    terminal.type("w");
    await terminal.until("this choice is not verified");
    terminal.type("y");
    await terminal.until("verified by itself");
    await terminal.until("apply 2 hunks in 1 file, +2 -2 to your tree?");
    terminal.type("\r");
    await terminal.until("nothing was applied");
    expect(repo.git("status", "--short")).toBe("");
    terminal.type("w");
    await terminal.until("to your tree?");
    terminal.type("y");
    await terminal.until("applied 1 file");
    expect((await terminal.end()).exit).toBe(0);
    expect(lines()).toBe(text([3, "bell and line"], [30, "rope"]));
    expect(repo.git("status", "--short")).toBe(" M lines.txt\n");
  });

  it("keeps what was decided when it is left, ended by Ctrl-C or by a signal, and gives the terminal back", async ({
    skip,
  }) => {
    if (MISSING) skip(WHY);
    const { repo, run, look } = await open();
    const narrow = look(["--context", "1"], "rows 12 cols 30", SAME);
    await narrow.until("shows the keys");
    narrow.type("ny");
    await narrow.until("taken 1");
    narrow.type("q");
    expect(await narrow.until("left for later")).toContain("\u001b[?1049l");
    await narrow.until("same 4");
    const plain = look([], "rows 40 cols 110", (line) => SAME(`NO_COLOR=1 ${line}`));
    const shown = await plain.until(KEYS);
    expect(shown).toContain("taken 1 in 1 file, +2 -2   left out 1");
    expect(shown).not.toMatch(/\u001b\[[0-9;]*3[0-9][;m]/);
    plain.type("y\u0003");
    await plain.until("what you decided is kept");
    await plain.until("same 130");
    const ended = look([], "rows 40 cols 110", (line) => SAME(withPid(repo, line)));
    await ended.until("taken 2");
    await ended.until(KEYS);
    process.kill(readPid(repo), "SIGTERM");
    await ended.until("what you decided is kept");
    await ended.until("same 143");
    const piped = await repo.verbatim("agent", "review", run);
    expect([piped.exit, piped.stderr]).toEqual([2, expect.stringContaining("--only PATH:1,3-4")]);
  });

  it("killed while it verifies leaves the run as it was, with what was decided", async ({ skip }) => {
    if (MISSING) skip(WHY);
    const { repo, run, look } = await open(["--verify-sh", "[ ! -e slow ] || sleep 60"]);
    repo.write("slow", "");
    const terminal = look([], "rows 40 cols 110", (line) => withPid(repo, line));
    await terminal.until(KEYS);
    terminal.type("nyv");
    await terminal.until("verifying 1 hunk in 1 file");
    await terminal.until("verifying the change");
    process.kill(readPid(repo), "SIGKILL");
    await terminal.end();
    const again = look();
    expect(await again.until(KEYS)).toContain("taken 1 in 1 file");
    again.type("q");
    expect((await again.end()).exit).toBe(4);
    const { summary } = JSON.parse((await repo.verbatim("agent", "show", run, "--json")).stdout) as {
      summary: { outcome: string };
    };
    expect(summary.outcome).toBe("verified");
    expect(repo.git("status", "--short")).toBe("?? slow\n");
  });
});
