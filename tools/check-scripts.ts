import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sortedByCodePoint } from "../src/core/canonical/index.ts";
import { ROOT } from "./stages.ts";

// Scripts that perl runs are compiled by it; those in JavaScript and CSS are checked by biome and oxlint like everything.

const inside = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
const scripts = sortedByCodePoint(
  inside.map((file) => file.replaceAll("\\", "/")).filter((file) => file.endsWith(".pl")),
);
if (scripts.length === 0) throw new Error("no scripts of perl were found under src");
for (const script of scripts) {
  const { status, stderr, error } = spawnSync("perl", ["-c", join(ROOT, "src", script)], { encoding: "utf8" });
  if (error !== undefined) {
    console.log(`perl does not answer here (${error.message}); its scripts were not checked`);
    break;
  }
  if (status === 0 && stderr.trim().endsWith("syntax OK") && stderr.trim().split("\n").length === 1) continue;
  console.log(`src/${script}:\n${stderr.trim()}`);
  process.exitCode = 1;
}
