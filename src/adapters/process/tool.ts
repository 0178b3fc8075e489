import { spawn } from "node:child_process";
import { VerbatimError } from "../../core/errors/index.ts";

const SHOWN = 2000;

/** Runs a tool of the system to its end; what it says on standard error is in the error. Nothing is passed to a shell. */
export function runTool(name: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    });
    let words = "";
    child.stderr.on("data", (bytes: Buffer) => {
      if (words.length < SHOWN) words += bytes.toString();
    });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else
        reject(
          new VerbatimError("INTERNAL", {
            message: `${name} ended with ${code}: ${words.trim()}`,
            details: { tool: name, code },
          }),
        );
    });
  });
}
