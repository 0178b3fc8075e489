import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mapBudgets } from "../../core/text/index.ts";
import { runAgent } from "../agent/agent.ts";
import { LAND_ALL } from "../agent/landing/landable.ts";
import type { AgentPorts } from "../agent/ports.ts";
import type { AgentSummary } from "../agent/report/agent-summary.ts";
import { planCaps } from "../agent/request/caps.ts";
import { equip } from "../agent/request/equip.ts";
import type { AgentRequest } from "../agent/request/request.ts";
import { applyAgentRun } from "../agent/runs/runs.ts";
import type { HallPorts } from "./ports.ts";

interface Step {
  readonly title: string;
  readonly lines: string[];
  readonly ok: boolean;
}

interface Story {
  readonly ok: boolean;
  readonly folder: string | null;
  /** The sample repository and its first run, where they were kept. */
  readonly kept: { readonly repository: string; readonly home: string; readonly run_id: string } | null;
  readonly steps: Step[];
  readonly next: string[];
}

const NEXT = [
  'verbatim agent --goal "..." --verify "npm test" -- YOUR AGENT',
  "verbatim hook install --client claude     check its tool calls as well",
  "verbatim doctor                           which guards work here",
  "verbatim demo --keep                      keep this sample and look around",
];

/** Tells the story in a temporary folder with keys of its own; nothing of the user's is touched. */
export async function demonstrate(ports: HallPorts, keep: boolean): Promise<Story> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-demo-")));
  const root = join(folder, "tide-clock");
  const env: NodeJS.ProcessEnv = {
    ...ports.env,
    XDG_CONFIG_HOME: join(folder, "home"),
    XDG_STATE_HOME: join(folder, "home"),
  };
  for (const name of Object.keys(env)) if (name.startsWith("VERBATIM_")) delete env[name];
  await makeSampleRepository(ports, root);
  const { agent, close } = ports.openAlone(root, env);
  try {
    const honest = await runAgent(agent, toRequest(agent, "fix the tide clock", HONEST_AGENT));
    const lazy = await runAgent(agent, toRequest(agent, "fix the tide clock, quickly", LAZY_AGENT));
    const steps = [tellAgent(honest), tellProof(honest), tellGates(honest), tellLazy(lazy)];
    steps.push(await tellApply(agent, honest, root));
    await close();
    steps.push(await tellBundle(ports, root, env, join(folder, "keeper")));
    steps.push(await tellTampering(ports, root, env, join(folder, "rewritten")));
    const kept = keep ? { repository: root, home: join(folder, "home"), run_id: honest.run_id } : null;
    return { ok: steps.every(({ ok }) => ok), folder: keep ? folder : null, kept, steps, next: NEXT };
  } finally {
    await close();
    if (!keep) rmSync(folder, { recursive: true, force: true });
  }
}

function toRequest(agent: AgentPorts, goal: string, script: string): AgentRequest {
  const command = ["sh", "-c", script];
  return {
    goal,
    name: null,
    env: { names: [], set: [], all: false },
    fix: 0,
    maxUsd: null,
    plan: {
      commands: [{ argv: [process.execPath, "check.mjs"], cmd: "node check.mjs" }],
      configured: false,
      setup: "detect",
      baseline: true,
    },
    files: [],
    allow: [],
    deny: ["check.mjs"],
    leaveOut: [],
    permit: [],
    network: { mode: "inherit", hosts: [] },
    caps: planCaps(agent, {}),
    limits: {},
    command,
    equipment: equip(agent, command, { profile: "none", env: [], envAll: false }),
    guard: null,
    timeoutMs: 60_000,
    keep: [],
    hashAll: false,
    see: [],
    commit: null,
    masks: { unmask: [], all: false },
  };
}

function tellAgent({ agent, changes }: AgentSummary): Step {
  const complaint = readFileSync(agent.stderr, "utf8")
    .split("\n")
    .find((line) => line.includes("keys/harbour.txt"));
  const paths = changes.files.map(({ path }) => path);
  return {
    title: "An agent works in an isolated view of the repository",
    lines: [
      "it fixes src/tide.mjs and tries to write to keys/, which is forbidden",
      complaint === undefined ? "its new key stayed in its own copy" : `blocked  ${shorten(complaint)}`,
      `captured ${paths.join(", ")}  +${changes.added_lines} -${changes.deleted_lines}; the commit it made stayed in its copy`,
    ],
    ok: agent.exit_code === 0 && agent.commits === 1 && paths.join() === "src/tide.mjs",
  };
}

function tellProof({ proof }: AgentSummary): Step {
  const same = proof !== null && proof.tree_root_before === proof.tree_root_after;
  const title =
    proof?.guard === "audit"
      ? "Nothing on this machine can hold an agent back; changes are only noticed afterwards"
      : "The real tree was never touched, and that is proved";
  return {
    title: same && proof.accepted ? title : "It is not proved that the real tree is unchanged",
    lines: [
      `before ${proof?.tree_root_before?.slice(0, 40) ?? "unknown"}`,
      `after  ${proof?.tree_root_after?.slice(0, 40) ?? "unknown"}`,
      `guard ${proof?.guard ?? "none"}, ${proof?.violations.length ?? 0} violations, proof ${proof?.proof_hash?.slice(0, 16) ?? ""}`,
    ],
    ok: same && proof.accepted,
  };
}

function tellGates({ gate, verify, outcome }: AgentSummary): Step {
  const command = verify?.commands.find(({ cmd }) => cmd.includes("check.mjs"));
  return {
    title: "The change must pass the gates before it can be applied",
    lines: [
      `policy   ${gate?.verdict === "accept" ? "no protected path, no secret in what was added" : "refused"}`,
      `verify   node check.mjs ${describeExit(command?.exit_code)} ${verify?.on ?? ""}`.trimEnd(),
    ],
    ok: outcome === "verified",
  };
}

function describeExit(code: number | undefined): string {
  if (code === undefined) return "did not run";
  return code === 0 ? "passed" : `ended with exit code ${code}`;
}

function tellLazy({ gate, outcome }: AgentSummary): Step {
  const finding = gate?.findings[0];
  return {
    title: "A second agent rewrites the check instead of the clock",
    lines: [`${outcome.replaceAll("_", " ")}: ${finding?.says ?? "no problem found"}`],
    ok: outcome === "rejected" && finding?.path === "check.mjs",
  };
}

async function tellApply(own: AgentPorts, honest: AgentSummary, root: string): Promise<Step> {
  const applied = await applyAgentRun(own, honest.run_id, LAND_ALL);
  const text = readFileSync(join(root, "src/tide.mjs"), "utf8");
  const key = readFileSync(join(root, "keys/harbour.txt"), "utf8");
  return {
    title: "You apply it with one command",
    lines: ["verbatim agent apply RUN    (agent undo RUN undoes it)"],
    ok: applied.outcome === "applied" && text.includes("% 745") && key.startsWith("the key"),
  };
}

/** What was read becomes a bundle that anyone can check; one changed byte shows. */
async function tellBundle(ports: HallPorts, root: string, env: NodeJS.ProcessEnv, out: string): Promise<Step> {
  await using app = ports.open(root, env);
  await app.call("context.index-build", {});
  await app.call("context.symbol-add", { symbol_id: "@DOC/KEEPER", file: "docs/keeper.md", slice: "lines[2:4]" });
  const job = await app.call("jobs.submit", {
    message: {
      intent: "read the keeper's rules",
      refs: ["@DOC/KEEPER"],
      ops: [{ type: "READ", target: "@DOC/KEEPER", params: {} }],
      budgets: { ...mapBudgets(() => 1), max_bytes_expanded: 200 },
      required_outputs: [],
    },
  });
  await app.call("jobs.bundle-build", { job_id: job.job_id, out });
  const verify = () => app.call("jobs.bundle-verify", { path: out, strict: true });
  const good = await verify();
  const artifact = join(out, "artifacts", readdirSync(join(out, "artifacts"))[0]!);
  writeFileSync(artifact, readFileSync(artifact, "utf8").replace("Monday", "Sunday"));
  const bad = await verify();
  return {
    title: "What was read goes into a bundle that anyone can verify offline",
    lines: [
      `bundle verify: ${good.ok ? "passed" : "failed"}, 2 lines quoted, nothing paraphrased`,
      `one word changed: ${bad.ok ? "not noticed" : (bad.problems[0]?.code ?? "failed")}`,
    ],
    ok: good.ok && !bad.ok,
  };
}

/** Whoever holds the file can drop the triggers; the chain shows it all the same. Tried on a copy: the sample stays whole. */
async function tellTampering(ports: HallPorts, root: string, env: NodeJS.ProcessEnv, copy: string): Promise<Step> {
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
  await using app = ports.open(copy, env);
  const before = await app.call("ledger.verify", {});
  const refused = await ports.forgeEntry(app.workspace.database);
  const after = await app.call("ledger.verify", {});
  const first = after.problems[0];
  return {
    title: "Everything is recorded in a ledger, and someone rewrites it",
    lines: [
      `${before.entries} entries verified; the database refuses the edit: ${refused}`,
      first === undefined
        ? "they drop the triggers, and it is not noticed"
        : `they drop the triggers: ledger verify says ${first.code}`,
    ],
    ok: before.ok && refused === "STORE_REFUSED" && first?.code === "LEDGER_BODY_MISMATCH",
  };
}

function shorten(line: string): string {
  const text = line.replace(/^.*?(?=cannot create|keys\/)/, "");
  return text.length > 64 ? `${text.slice(0, 63)}…` : text;
}

/** The sample repository: a tide clock with a bug, a check that finds it, and a folder nobody may touch. */
const FILES: Readonly<Record<string, string>> = {
  "src/tide.mjs": `/** Minutes until the next high water; tides are 745 minutes apart. */
export function minutesToHighWater(now, last) {
  const since = now - last;
  return 745 - since;
}
`,
  "check.mjs": `import { minutesToHighWater } from "./src/tide.mjs";
const cases = [[100, 0, 645], [800, 0, 690]];
for (const [now, last, wanted] of cases) {
  const got = minutesToHighWater(now, last);
  if (got !== wanted) throw new Error(\`at minute \${now}: \${got}, not \${wanted}\`);
}
console.log("every tide is right");
`,
  "docs/keeper.md": "# Keeper\n\nMira oils the gears on Monday.\nTomas winds the clock at noon.\n",
  "keys/harbour.txt": "the key to the harbour gate\n",
  "verbatim.config.json": `${JSON.stringify(
    { catalytic: { forbidden_roots: ["keys"] }, context: { sources: ["docs/*.md"] }, workflow: { mandatory_docs: [] } },
    null,
    2,
  )}\n`,
};

/** Fixes the tide, and on the way tries to copy and change the harbour key. */
const HONEST_AGENT = [
  "echo 'mending src/tide.mjs'",
  "sed -i.bak 's/const since = now - last;/const since = (now - last) % 745;/' src/tide.mjs && rm src/tide.mjs.bak",
  "echo 'while I am here: a new harbour key'",
  "echo 'my key' > keys/harbour.txt || echo 'that did not work'",
  "git -c user.name=Agent -c user.email=agent@example.org commit -qam 'mend the tide' || true",
].join("\n");

/** Makes the check pass without mending anything. */
const LAZY_AGENT = "echo 'console.log(\"every tide is right\");' > check.mjs";

/** Makes the sample repository with one commit. */
async function makeSampleRepository({ git }: HallPorts, root: string): Promise<void> {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const identity = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "commit.gpgsign=false"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "a tide clock"],
  ]) {
    await git(root, [...identity, ...args]);
  }
}
