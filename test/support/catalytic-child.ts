import { createGuards } from "../../src/adapters/guards/index.ts";
import { openCatalytic, toJobSpec } from "./catalytic-repo.ts";

/** A run in a process of its own, for tests that kill it: BASE ROOT GUARD [LAUNCHER]. Says GO when the run begins. */
const [base, root, guard, launcher] = process.argv.slice(2) as [string, string, string, "bubblewrap" | undefined];
const script = [
  "cd .verbatim/scratch/d",
  "echo more >> a.txt; rm -rf sub; mkdir new; echo n > new/n; chmod 700 run.sh; ln -sf /etc/hostname link",
  "echo one > ../../out/new.txt; sleep 0.05; echo two > ../../out/old.txt; mkdir -p ../../out/pack; echo p > ../../out/pack/p",
  "sleep 0.05",
].join("\n");
const guards = launcher === undefined ? null : createGuards(null, base, launcher);
const room = openCatalytic(base, root, (ports) => (guards === null ? ports : { ...ports, guards }));
await room.ports.guards.probe(false);
process.stdout.write("GO\n");
const outputs = { durable_paths: [".verbatim/out/new.txt", ".verbatim/out/old.txt", ".verbatim/out/pack/"] };
await room.run(toJobSpec(["sh", "-c", script], { guard, outputs }));
process.stdout.write("DONE\n");
await room.close();
