import { openCatalytic, toJobSpec } from "./catalytic-repo.ts";

/** A run over a large file in a process of its own: BASE ROOT GUARD. Says how much memory it needed at most, in MiB. */
const [base, root, guard] = process.argv.slice(2) as [string, string, string];
const room = openCatalytic(base, root);
const script = "cp .verbatim/scratch/d/huge .verbatim/out/copy";
const run = await room.run(
  toJobSpec(["sh", "-c", script], { guard, outputs: { durable_paths: [".verbatim/out/copy"] } }),
);
await room.close();
process.stdout.write(
  `${JSON.stringify({ accepted: run.accepted, mib: Math.round(process.resourceUsage().maxRSS / 1024) })}\n`,
);
