// Guards: the action and the example workflow do what the guide says. Their steps are run one by one, as a runner runs them:
// in bash, in a checkout, with their inputs as variables.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { BIN } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const ACTION = read("action.yml");
const WORKFLOW = read("examples/check-agents.yml");

interface Step {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
}

/** The steps of the action: `env` of `${{ inputs.NAME }}` alone, so that no input is ever part of a script. */
function readSteps(): Step[] {
  return ACTION.slice(ACTION.indexOf("  steps:\n"))
    .split(/^ {4}- name: /m)
    .slice(1)
    .map((text) => {
      const env = [...text.matchAll(/^ {8}([A-Z_]+): \$\{\{ inputs\.([a-z-]+) \}\}$/gm)].map(([, name, input]) => [
        name!,
        input!,
      ]);
      const run = text.slice(text.indexOf("      run: |\n") + "      run: |\n".length).replaceAll(/^ {8}/gm, "");
      expect(run).not.toContain("${{");
      return { name: text.split("\n")[0]!, env: Object.fromEntries(env), run };
    });
}

/** What `with` of a step says, its expressions filled in. */
function readWith(event: Readonly<Record<string, string>>): Record<string, string> {
  const text = WORKFLOW.slice(WORKFLOW.indexOf("OWNER/verbatim-agent@COMMIT"));
  const rows = [...text.matchAll(/^ {10}([a-z-]+): (.+)$/gm)].map(([, name, value]) => [name!, value!] as const);
  const fill = (value: string) => value.replaceAll(/\$\{\{ ([a-z_.]+) \}\}/g, (_, name: string) => event[name] ?? "");
  return Object.fromEntries(rows.map(([name, value]) => [name, fill(value)]));
}

const DEFAULTS: Readonly<Record<string, string>> = { "require-all": "false", version: "latest" };

/** Runs the job of the workflow for a pull request, as its runner would. */
function runJob(repo: AgentRepo, base: string, head: string, inputs: Readonly<Record<string, string>> = {}) {
  const place = join(repo.base, "runner");
  rmSync(place, { recursive: true, force: true });
  const [checkout, temp, bin, summary] = ["checkout", "temp", "bin", "summary.md"].map((name) => join(place, name));
  for (const folder of [place, temp!, bin!]) mkdirSync(folder);
  writeFileSync(summary!, "");
  // actions/checkout with fetch-depth 0: everything but the notes.
  expect(WORKFLOW).toContain("- uses: actions/checkout@v4\n        with:\n          fetch-depth: 0\n");
  execFileSync("git", ["clone", "-q", `file://${repo.root}`, checkout!], { stdio: "ignore" });
  execFileSync("git", ["checkout", "-q", head], { cwd: checkout!, stdio: "ignore" });
  // What npm would install; it must not be asked in the checkout.
  const npm = [
    "#!/bin/sh",
    '[ "$PWD" = "$RUNNER_TEMP" ] || exit 9',
    'while [ "$1" != --prefix ]; do shift; done',
    'mkdir -p "$2/node_modules/.bin"',
    `printf '#!/bin/sh\\nexec "${process.execPath}" "${BIN}" "$@"\\n' > "$2/node_modules/.bin/verbatim"`,
    'chmod +x "$2/node_modules/.bin/verbatim"; echo "$3" > "$2/asked"',
  ];
  writeFileSync(join(bin!, "npm"), `${npm.join("\n")}\n`, { mode: 0o755 });
  const event = { "github.event.pull_request.base.sha": base, "github.event.pull_request.head.sha": head };
  const given = { ...DEFAULTS, ...readWith(event), ...inputs };
  let log = "";
  let exit = 0;
  for (const { name, env, run } of readSteps()) {
    const own = Object.fromEntries(Object.entries(env).map(([variable, input]) => [variable, given[input]!]));
    const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", run], {
      cwd: checkout!,
      encoding: "utf8",
      env: {
        ...repo.env,
        ...own,
        PATH: `${bin}:${repo.env["PATH"]}`,
        RUNNER_TEMP: temp!,
        GITHUB_STEP_SUMMARY: summary!,
      },
    });
    log += `${name}\n${stdout}${stderr}`;
    exit = status ?? -1;
    if (exit !== 0) break;
  }
  return {
    exit,
    log,
    summary: readFileSync(summary!, "utf8"),
    asked: readFileSync(join(temp!, "verbatim/asked"), "utf8").trim(),
  };
}

it("the example workflow passes what was attested and fails a pull request with anything else, with a summary", async () => {
  const repo = makeAgentRepo();
  const { git, verbatim } = repo;
  git("config", "user.name", "Mira");
  git("config", "user.email", "mira@example.org");
  repo.write("lamp.txt", "off\n");
  await verbatim("keys", "new", "mira");
  mkdirSync(join(repo.root, ".github"));
  await verbatim(
    "keys",
    "policy",
    "init",
    ".github/agents.json",
    "--key",
    "mira",
    "--scope",
    "AGENT",
    "--require",
    "true",
  );
  git("add", ".");
  git("commit", "-qm", "first");
  const base = git("rev-parse", "HEAD").trim();
  // Before there is any attestation: only people have committed.
  repo.write("own.txt", "by hand\n");
  git("add", "own.txt");
  git("commit", "-qm", "by hand");
  const people = runJob(repo, base, git("rev-parse", "HEAD").trim());
  expect([people.exit, people.log, people.asked]).toEqual([
    0,
    expect.stringContaining("1 commit: 1 of people\n"),
    "verbatim-agent@latest",
  ]);
  expect(people.log).toContain("no attestations were fetched");
  await verbatim("agent", "--goal", "light it", "--verify", "true", "--", "sh", "-c", "echo on > lamp.txt");
  const env = { ...repo.env, VERBATIM_KEY_FILE: "mira" };
  expect((await runHere(["agent", "apply", "@", "--commit"], { cwd: repo.root, env })).exit).toBe(0);
  const head = git("rev-parse", "HEAD").trim();
  const good = runJob(repo, base, head);
  expect([good.exit, good.log]).toEqual([0, expect.stringMatching(/\n2 commits: 1 holds, 1 of people\n$/)]);
  expect(good.summary).toBe(
    `### Commits of agents\n\`\`\`\`\n- ${git("rev-parse", "HEAD^").trim().slice(0, 12)}  people  by hand\n✓ ${head.slice(0, 12)}  agent  light it\n    by sh; true passed; signed by mira\n2 commits: 1 holds, 1 of people\n\`\`\`\`\n`,
  );
  expect(runJob(repo, base, head, { "require-all": "true" }).exit).toBe(1);
  // The pull request brings packages and settings of npm of its own, and a commit that only looks like one of an agent.
  repo.write("lamp.txt", "red\n");
  repo.write(".npmrc", "registry=http://127.0.0.1:9/\n");
  mkdirSync(join(repo.root, "node_modules/.bin"), { recursive: true });
  symlinkSync("/bin/true", join(repo.root, "node_modules/.bin/verbatim"));
  git("add", "-f", "lamp.txt", ".npmrc", "node_modules");
  git("commit", "-qm", "`light` it ````\n\nVerbatim-Run: 20250102-030405-abcdef");
  const bad = runJob(repo, base, git("rev-parse", "HEAD").trim());
  expect([bad.exit, bad.log]).toEqual([1, expect.stringContaining("::error title=CHECK_NOTE_MISSING::")]);
  expect(bad.summary).toContain("CHECK_NOTE_MISSING");
});

it("the guide shows the workflow that is run here", () => {
  expect(read("docs/guides/ci.md")).toContain(`\`\`\`yaml\n${WORKFLOW}\`\`\`\n`);
});
