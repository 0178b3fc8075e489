import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PseudoTerminal } from "./pseudo-terminal.ts";

/** A perl that takes its time the first time it is told this many rows. */
function makeSlowPerl(rows: number): string {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-terminal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "perl");
  writeFileSync(file, `#!/bin/sh\n[ "$3" = ${rows} ] && sleep 0.4\nexec perl "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

describe("the size of an agent's terminal", () => {
  it("is the user's last one, however long it took to tell the one before", async () => {
    let size = { rows: 20, columns: 80 };
    let resize = () => {};
    const terminal = new PseudoTerminal(makeSlowPerl(30), {
      errors: true,
      size: () => size,
      connect(_, onResize) {
        resize = onResize;
        return () => undefined;
      },
    });
    terminal.connect(() => undefined);
    const now = () => execFileSync("stty", ["-F", terminal.path, "size"], { encoding: "utf8" }).trim();
    expect(now()).toBe("20 80");
    size = { rows: 30, columns: 80 };
    resize();
    size = { rows: 40, columns: 77 };
    resize();
    await expect.poll(now).toBe("40 77");
    // Long enough for the slow one to speak, if it were still to.
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(now()).toBe("40 77");
    await terminal.close();
  });
});
