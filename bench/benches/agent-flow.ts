import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { NOTES, openAgentCorpus } from "../agent-corpus.ts";
import type { Bench } from "../harness.ts";
import { ROOT } from "../places.ts";

type Corpus = Awaited<ReturnType<typeof openAgentCorpus>>;

const CHANGE = ["sh", "-c", `echo more >> ${NOTES}`];
const CORPUS = "N small files in folders of a hundred, one commit";
const STATUS = "git status on the same tree";
/** A look trusts no file that changed less than two seconds before it. */
const REST_MS = 2_500;

const readStatus = (root: string) => () => execFileSync("git", ["status", "--porcelain"], { cwd: root });

/** Puts the file back as it was committed, and waits until it is old enough to be trusted. */
async function putBack(root: string): Promise<void> {
  execFileSync("git", ["checkout", "-q", NOTES], { cwd: root });
  await wait(REST_MS);
}

async function runVerified({ app }: Corpus): Promise<string> {
  return (await app.call("agent.run", { goal: "more", verify: ["true"], command: CHANGE })).run_id;
}

export const agentRun: Bench = {
  name: "agent-run",
  what: "an agent that changes one file, --no-verify, the whole command with the start of Node",
  baseline: STATUS,
  corpus: CORPUS,
  // How it grows, agent-overhead tells in the same run.
  sizes: [50_000],
  goal: { kind: "time", atMost: 3, orMs: 1_000 },
  maxRounds: 5,
  async prepare(size) {
    const { root, env, close } = await openAgentCorpus(size);
    const line = ["-C", root, "agent", "--goal", "more", "--no-verify", "--apply", "never", "--", ...CHANGE];
    const ours = () =>
      execFileSync(process.execPath, [join(ROOT, "bin/verbatim.js"), ...line], { cwd: root, env, stdio: "ignore" });
    ours();
    ours();
    return { ours, baseline: readStatus(root), close };
  },
};

export const agentVerify: Bench = {
  name: "agent-verify",
  what: "a change judged and verified again by a command that does nothing: view, gate and record",
  baseline: STATUS,
  corpus: CORPUS,
  sizes: [5_000, 50_000],
  goal: { kind: "time", atMost: 1.5 },
  maxGrowth: 1.1,
  onAsking: true,
  async prepare(size) {
    const corpus = await openAgentCorpus(size);
    const run = await runVerified(corpus);
    return {
      ours: () => corpus.app.call("agent.verify", { run }),
      baseline: readStatus(corpus.root),
      close: () => corpus.close(),
    };
  },
};

export const agentApply: Bench = {
  name: "agent-apply",
  what: "a change of one file applied to the tree it was made on",
  baseline: `${STATUS}, and 2 ms for the file`,
  corpus: CORPUS,
  sizes: [5_000, 50_000],
  goal: { kind: "time", atMost: 1.5 },
  maxRounds: 5,
  onAsking: true,
  async prepare(size) {
    const { root, app, close } = await openAgentCorpus(size);
    let run = "";
    return {
      async before() {
        await putBack(root);
        run = (await app.call("agent.run", { goal: "more", no_verify: true, command: CHANGE })).run_id;
      },
      ours: () => app.call("agent.apply", { run }),
      baseline: readStatus(root),
      allowed_ms: 2 / 1.5,
      async close() {
        await putBack(root);
        await close();
      },
    };
  },
};

export const agentMerge: Bench = {
  name: "agent-merge",
  what: "a change applied to a tree that moved on: one file merged, judged and verified again",
  baseline: "agent verify of such a change",
  corpus: CORPUS,
  sizes: [50_000],
  goal: { kind: "time", atMost: 2 },
  maxRounds: 5,
  onAsking: true,
  async prepare(size) {
    const corpus = await openAgentCorpus(size);
    const { root, app, close } = corpus;
    const kept = await runVerified(corpus);
    let run = "";
    return {
      async before() {
        await putBack(root);
        run = await runVerified(corpus);
        const place = join(root, NOTES);
        writeFileSync(place, `first\n${readFileSync(place, "utf8")}`);
      },
      async ours() {
        const { landing } = await app.call("agent.apply", { run });
        if (landing?.files[0]?.how !== "merged") throw new Error("the landing did not merge");
      },
      baseline: () => app.call("agent.verify", { run: kept }),
      async close() {
        await putBack(root);
        await close();
      },
    };
  },
};

/** A command inside the view of a verification against the same one on the real tree. */
function inView(name: string, what: string, atMost: number, text: string): Bench {
  return {
    name,
    what,
    baseline: "the same command on the real tree",
    corpus: "5,000 small files, and N that git ignores",
    sizes: [10_000],
    goal: { kind: "time", atMost },
    maxRounds: 7,
    onAsking: true,
    async prepare(size) {
      const corpus = await openAgentCorpus(5_000);
      const { root, app, env } = corpus;
      for (let i = 0; i < size; i++) {
        const folder = join(root, "ignored", `p${Math.floor(i / 100)}`);
        if (i % 100 === 0) mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, `f${i}.txt`), "");
      }
      const run = await runVerified(corpus);
      const quick = ["-c", text];
      return {
        async ours() {
          const { verify } = await app.call("agent.verify", { run, verify_sh: [text] });
          return { took_ms: verify!.commands[0]!.duration_ms };
        },
        baseline: () => execFileSync("/bin/sh", quick, { cwd: root, env }),
        close: () => corpus.close(),
      };
    },
  };
}

export const agentCommand = inView(
  "agent-command",
  "a verify command that computes",
  1.15,
  `node -e "let x = 0; for (let i = 0; i < 5e7; i++) x += i"`,
);

export const agentWalk = inView(
  "agent-walk",
  "a verify command that walks ignored files",
  2,
  "find ignored -type f -size -9 | wc -l",
);
