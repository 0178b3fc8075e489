// The guide of the workflow room, typed as it stands: every command, and every line it is said to print.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const page = readFileSync(new URL("../../docs/rooms/workflow.md", import.meta.url), "utf8");
const entry = fileURLToPath(new URL("../../bin/verbatim.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "verbatim-guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bin = join(folder, "bin");
mkdirSync(bin);
writeFileSync(join(bin, "verbatim"), `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`);
chmodSync(join(bin, "verbatim"), 0o755);

interface Step {
  readonly command: string;
  /** Null for scripts, whose output nobody promises. */
  readonly printed: string | null;
}

function readSteps(): Step[] {
  return [...page.matchAll(/```(sh|console)\n([\s\S]*?)```/g)].flatMap(([, kind, text]): Step[] => {
    if (kind === "sh") return [{ command: text!, printed: null }];
    return text!
      .split(/^\$ /m)
      .slice(1)
      .map((part) => ({ command: part.slice(0, part.indexOf("\n")), printed: part.slice(part.indexOf("\n") + 1) }));
  });
}

/** `<...>` stands for whatever a line holds there. */
function toPattern(printed: string): RegExp {
  const literal = printed.split("<...>").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join("[^\\n]*")}$`);
}

describe("docs/rooms/workflow.md", () => {
  it("is a session that works as it is printed", { timeout: 180_000 }, () => {
    const env = {
      PATH: `${bin}:${process.env["PATH"]}`,
      HOME: folder,
      VERBATIM_RUNS_ROOT: join(folder, "runs"),
      NO_COLOR: "1",
    };
    let cwd = folder;
    const steps = readSteps();
    expect(steps.length).toBeGreaterThan(15);
    for (const { command, printed } of steps) {
      const { status, stdout, stderr } = spawnSync("bash", ["-c", printed === null ? `set -e\n${command}` : command], {
        cwd,
        env,
        encoding: "utf8",
      });
      cwd = join(folder, "greet");
      if (printed === null) expect([status, stderr.replace(/^created .*\n/, "")]).toEqual([0, ""]);
      else expect(stdout, stderr).toMatch(toPattern(printed));
    }
  });
});
