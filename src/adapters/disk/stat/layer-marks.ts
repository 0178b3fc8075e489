import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { LayerMarks } from "../../../rooms/catalytic/ports.ts";
import { findTool } from "../../guards/tools.ts";

const MARKS_SCRIPT = readFileSync(new URL("./scripts/layer-marks.pl", import.meta.url), "utf8");

/** Number of the system call `lgetxattr`. */
const LGETXATTR: Readonly<Record<string, number>> = { x64: 192, arm64: 9 };
const MOST_BYTES = 256 * 1024 * 1024;

/** What an overlay noted in its upper folder. Node reads no extended attributes, so perl does, which mounted it as well. */
export function readLayerMarks(upper: string): LayerMarks {
  const perl = findTool("perl");
  const call = LGETXATTR[process.arch];
  if (perl === null || call === undefined) throw unreadable("perl is missing");
  const { status, stdout, stderr } = spawnSync(perl, ["-e", MARKS_SCRIPT, String(call), upper], {
    maxBuffer: MOST_BYTES,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    cwd: "/",
  });
  if (status !== 0) throw unreadable(stderr.toString().trim());
  const words = stdout.toString("utf8").split("\0");
  const [gone, opaque, redirects] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  for (let i = 0; i + 2 < words.length; i += 3) {
    const [kind, path, to] = words.slice(i, i + 3) as [string, string, string];
    if (kind === "w") gone.add(path);
    else if (kind === "o") opaque.add(path);
    else redirects.set(path, to);
  }
  return { gone, opaque, redirects };
}

function unreadable(why: string): VerbatimError {
  return new VerbatimError("INTERNAL", { message: `the layer cannot be read: ${why}` });
}
