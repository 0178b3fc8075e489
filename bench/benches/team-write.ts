import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Bench } from "../harness.ts";
import { type BenchTeam, git, messageOf, openTeam, Workers, withoutPostgres } from "../team-corpus.ts";

const FEW = 500;

/** A repository of so many small files with a remote, and a worker that serves it. */
async function openRepository(files: number) {
  const team = await openTeam();
  const { checkout, folder } = team;
  const remote = join(folder, "remote.git");
  git(folder, "init", "-q", "--bare", "-b", "main", remote);
  git(checkout, "init", "-q", "-b", "main");
  for (let n = 0; n < files; n++) {
    const place = join(checkout, "boats", String(n % 100), `boat-${n}.txt`);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, `boat ${n}\n`);
  }
  writeFileSync(join(checkout, "tide.md"), "# Tide\nlow\n");
  git(checkout, "add", "-A");
  git(checkout, "-c", "user.name=Mira", "-c", "user.email=mira@example.org", "commit", "-q", "-m", "harbour");
  git(checkout, "push", "-q", remote, "HEAD:main");
  await team.app.call("team.repository-add", { name: "harbour", remote });
  await team.app.call("context.index-build", {});
  await team.app.call("context.symbol-add", { symbol_id: "@HARBOUR/TIDE", file: "tide.md", slice: "head(1)" });
  const workers = await Workers.start(team, 1, { KINDS: "effect" });
  return { team, workers };
}

async function write({ team, workers }: { readonly team: BenchTeam; readonly workers: Workers }) {
  const patch = "diff --git a/tide.md b/tide.md\n--- a/tide.md\n+++ b/tide.md\n@@ -1,2 +1,2 @@\n # Tide\n-low\n+high\n";
  const ops = [{ type: "WRITE", target: "@HARBOUR/TIDE", params: { patch } }];
  await team.app.call("jobs.post", { message: messageOf(ops, ["@HARBOUR/TIDE"]) });
  return workers.run(1);
}

export const teamWrite: Bench = {
  onAsking: true,
  unavailable: withoutPostgres,
  name: "team-write",
  what: "a WRITE of one file in a repository of N files: work tree, gate, commit, push, receipt",
  baseline: `the same in one of ${FEW} files`,
  corpus: "small text files in a hundred folders, a bare remote in a folder",
  sizes: [50_000],
  maxRounds: 5,
  goal: { kind: "time", atMost: 3 },
  async prepare(size) {
    const [many, few] = [await openRepository(size), await openRepository(FEW)];
    return {
      ours: () => write(many),
      baseline: () => write(few),
      async close() {
        for (const { team, workers } of [many, few]) {
          await workers.stop();
          await team.close();
        }
      },
    };
  },
};
