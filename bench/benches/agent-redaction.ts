import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKnownSecrets, Redactor, SecretFinder } from "../../src/rooms/workflow/index.ts";
import type { Bench } from "../harness.ts";
import { ROOT } from "../places.ts";

/** What one read of a pipe gives at most. */
const PART = 65_536;
/** Variables with secrets that a person may have. */
const SECRETS = Array.from({ length: 20 }, (_, i) => [
  `LAMP_${i}_TOKEN`,
  `k${i * 7919}-gull-rock-${i * 104_729}-north`,
]);

/** What it costs to take secrets out of what an agent prints, beside what printing it costs. */
export const agentRedaction: Bench = {
  name: "agent-redaction",
  what: "N bytes of plain text through the filter of what is recorded, with twenty secrets known",
  baseline: "cat of the same bytes through a pseudo terminal",
  corpus: "our own guides, again and again",
  sizes: [4_000_000, 32_000_000],
  goal: { kind: "time", atMost: 0.5 },
  onAsking: true,
  unavailable: () =>
    process.platform === "linux" ? null : "the terminal of the baseline is made by script of util-linux",
  async prepare(size) {
    const base = mkdtempSync(join(tmpdir(), "verbatim-bench-"));
    const text = readFileSync(join(ROOT, "docs/guides/agent.md"));
    const bytes = Buffer.alloc(size, text);
    const file = join(base, "printed");
    writeFileSync(file, bytes);
    const finder = new SecretFinder(findKnownSecrets(Object.fromEntries(SECRETS)));
    return {
      ours() {
        const redactor = new Redactor(finder);
        for (let at = 0; at < size; at += PART) redactor.add(bytes.subarray(at, at + PART));
        redactor.end();
      },
      baseline: () =>
        new Promise<void>((done, fail) => {
          const words = ["-qefc", `cat ${file}`, "/dev/null"];
          const child = spawn("script", words, { stdio: ["ignore", "pipe", "inherit"] });
          child.stdout.resume();
          child.once("error", fail).once("close", () => done());
        }),
      close: () => rmSync(base, { recursive: true, force: true }),
    };
  },
};
