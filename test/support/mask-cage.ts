import { lstatSync } from "node:fs";
import { join } from "node:path";
import { createGuards } from "../../src/adapters/guards/index.ts";

export interface MaskCageRequest {
  readonly guard: "ns-overlay" | "ns-bind";
  readonly bind: "perl" | "bubblewrap";
  /** With the folders root, home and work in it. */
  readonly base: string;
  /** A folder below /tmp that the script may see. */
  readonly seen: string;
  readonly script: string;
}

/** Runs a script with the files of `SECRETS` hidden, straight through the guards; what it printed. */
export async function runMasked({ guard, bind, base, seen, script }: MaskCageRequest): Promise<string> {
  const [root, home, work] = ["root", "home", "work"].map((name) => join(base, name)) as [string, string, string];
  const output: Buffer[] = [];
  const isOverlay = guard === "ns-overlay";
  const running = await createGuards(null, base, bind).launch({
    guard,
    run_id: `masks-${process.pid}`,
    root,
    work,
    layers: [
      { index: 0, kind: isOverlay ? "overlay" : "copy", path: root },
      ...(isOverlay ? [{ index: 1, kind: "home", path: home } as const] : []),
    ],
    writable: [],
    holes: [],
    keeps: [],
    hidden: [
      join(home, ".ssh"),
      join(home, ".netrc"),
      join(home, "s.sock"),
      work,
      join(seen, ".env"),
      join(seen, "sub/twin"),
    ],
    visible: [seen],
    ...(isOverlay ? { masked: [join(root, ".env"), join(root, "sub/.env")] } : {}),
    shown: [root, join(work, "tmp")],
    command: ["sh", "-c", script],
    cwd: root,
    env: {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      R: root,
      H: home,
      W: work,
      S: seen,
      INODE: String(lstatSync(join(home, ".ssh/id")).ino),
    },
    network: "inherit",
    timeout_ms: 120_000,
    stdin: "null",
    onOutput: (_stream, bytes) => void output.push(Buffer.from(bytes)),
  });
  await running.ended;
  await running.release();
  return Buffer.concat(output).toString("latin1");
}
