// Guards: what an agent gets of its user's surroundings, and what it can leave behind in the home folder.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";

function makeLamp(): AgentRepo & { readonly home: string } {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return { ...repo, home: join(repo.base, "home") };
}

interface Attempt {
  readonly profile: { readonly name: string; readonly sha256: string } | null;
  readonly env: { readonly passed: string[]; readonly set: string[]; readonly withheld: string[] };
  readonly login: { readonly path: string; readonly what: string }[];
  readonly network: {
    readonly hosts: string[];
    readonly connections: { readonly host: string; readonly verdict: string }[];
  };
}

const attemptOf = (dir: string) =>
  JSON.parse(readFileSync(join(dir, "agent/attempts/01/attempt.json"), "utf8")) as Attempt;

/** A program called like a known agent. */
function makeProgram(repo: AgentRepo, name: string, script: string): string {
  const bin = join(repo.base, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
  return join(bin, name);
}

function makeClaude(repo: AgentRepo, script: string): string {
  return makeProgram(repo, "claude", script);
}

const OUT = "env | sort > seen.txt";

it("passes an agent its own variables, writes down names only, and says how many others it did not get", async () => {
  const repo = makeLamp();
  const claude = makeClaude(repo, OUT);
  const secrets = { ANTHROPIC_API_KEY: "sk-mine", AWS_SECRET_ACCESS_KEY: "aws-secret", DATABASE_URL: "db-secret" };
  const args = ["agent", "--goal", "x", "--no-verify", "--env", "EXTRA=given-by-hand", "--json", "--", claude];
  const { stdout, stderr } = await runHere(args, { cwd: repo.root, env: { ...repo.env, ...secrets } });
  expect(stderr).toContain("the agent is Claude Code (profile claude)");
  const { run_dir, run_id } = JSON.parse(stdout) as { run_dir: string; run_id: string };
  const patch = readFileSync(join(run_dir, "artifacts/diff.patch"), "utf8");
  expect(patch).toContain("+ANTHROPIC_API_KEY=sk-mine");
  expect(patch).toContain("+EXTRA=given-by-hand");
  expect(patch).toContain("+DISABLE_AUTOUPDATER=1");
  expect(patch).not.toContain("aws-secret");
  expect(patch).not.toContain("db-secret");
  const attempt = attemptOf(run_dir);
  expect(attempt.profile).toEqual({ name: "claude", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect(attempt.env.passed).toContain("ANTHROPIC_API_KEY");
  expect(attempt.env.set).toEqual(["DISABLE_AUTOUPDATER", "EXTRA"]);
  expect(attempt.env.withheld).toEqual(expect.arrayContaining(["AWS_SECRET_ACCESS_KEY", "DATABASE_URL"]));
  const records = readFileSync(join(run_dir, "agent/run.json"), "utf8") + JSON.stringify(attempt);
  for (const value of ["sk-mine", "aws-secret", "db-secret", "given-by-hand"]) expect(records).not.toContain(value);
  const shown = await repo.verbatim("agent", "show", run_id);
  expect(shown.stdout.replaceAll(/\s+/g, " ")).toMatch(
    /[0-9]+ variables were kept from it: .*AWS_SECRET_ACCESS_KEY, .*DATABASE_URL.*; pass one with --env NAME/,
  );
});

it("keeps a login that the agent refreshed by a rename, and nothing else that it left in the home folder", async () => {
  const repo = makeLamp();
  const folder = join(repo.home, ".claude");
  mkdirSync(folder);
  const login = (token: string, at: number) => JSON.stringify({ claudeAiOauth: { accessToken: token, expiresAt: at } });
  writeFileSync(join(folder, ".credentials.json"), login("old", 1), { mode: 0o600 });
  const refresh = [
    `printf '%s' '${login("fresh", 2)}' > "$HOME/.claude/new"`,
    'mv "$HOME/.claude/new" "$HOME/.claude/.credentials.json"',
    'echo "{\\"hooks\\":{}}" > "$HOME/.claude/settings.json"; echo "echo owned" >> "$HOME/.profile"; echo on > lamp.txt',
  ].join("\n");
  const claude = makeProgram(repo, "claude", refresh);
  const { summary } = await repo.agent(["--no-verify", "--guard", "ns-overlay"], [claude]);
  expect(readFileSync(join(folder, ".credentials.json"), "utf8")).toBe(login("fresh", 2));
  expect(statSync(join(folder, ".credentials.json")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(folder, "settings.json"))).toBe(false);
  expect(existsSync(join(repo.home, ".profile"))).toBe(false);
  expect(attemptOf(summary.run_dir).login).toEqual([{ path: join(folder, ".credentials.json"), what: "refreshed" }]);
  const shown = await repo.verbatim("agent", "show", summary.run_id);
  expect(shown.stdout).toContain("your login was refreshed; nothing else in your home folder stayed");
  // What is not a login any more, or leads elsewhere, stays behind.
  const hostile = makeClaude(repo, 'rm -rf "$HOME/.claude"; ln -s /etc "$HOME/.claude"; echo more >> lamp.txt');
  const second = await repo.agent(["--no-verify", "--guard", "ns-overlay"], [hostile]);
  expect(readFileSync(join(folder, ".credentials.json"), "utf8")).toBe(login("fresh", 2));
  expect(attemptOf(second.summary.run_dir).login).toEqual([{ path: join(folder, ".credentials.json"), what: "gone" }]);
});

/** A program of each known agent, and its login file in a usual home. */
const KNOWN = [
  ["claude", "claude", ".claude/.credentials.json"],
  ["codex", "codex", ".codex/auth.json"],
  ["gemini", "gemini", ".gemini/oauth_creds.json"],
  ["opencode", "opencode", ".local/share/opencode/auth.json"],
  ["cursor", "cursor-agent", ".config/cursor/auth.json"],
] as const;

it.each(KNOWN)(
  "lets a logged-in %s work with the network allow: secrets empty, other hosts refused, its login kept, nothing else",
  async (name, program, login) => {
    const repo = makeLamp();
    repo.write(".gitignore", ".env\n");
    repo.write(".env", "LAMP_TOKEN=k7-gull-rock-4419\n");
    for (const [, , place] of KNOWN) {
      mkdirSync(dirname(join(repo.home, place)), { recursive: true });
      writeFileSync(join(repo.home, place), '{"token":"old-lamp-token"}', { mode: 0o600 });
    }
    mkdirSync(join(repo.home, ".ssh"));
    writeFileSync(join(repo.home, ".ssh/id_ed25519"), "a private key");
    const others = KNOWN.filter(([other]) => other !== name).map(([, , place]) => `"$HOME/${place}"`);
    const script = [
      `cat .env "$HOME/.ssh/id_ed25519" ${others.join(" ")} 2>/dev/null; cat "$HOME/${login}"`,
      `printf '{"token":"new-lamp-token"}' > "$HOME/new"; mv "$HOME/new" "$HOME/${login}"`,
      `echo '{"hooks":{}}' > "$HOME/${dirname(login)}/settings.json"; echo on > lamp.txt`,
      'perl -MSocket -e \'print gethostbyname("unlisted.example") ? "reached" : "\\nrefused\\n"\'',
    ];
    const agent = makeProgram(repo, program, script.join("\n"));
    const { summary, result } = await repo.agent(["--no-verify", "--network", "allow"], [agent]);
    expect([summary.outcome, result.stderr]).toEqual([
      "unverified",
      expect.stringContaining(`(profile ${name})`) as string,
    ]);
    const attempt = attemptOf(summary.run_dir);
    expect(readFileSync(join(summary.run_dir, "agent/attempts/01/output.log"), "utf8")).toBe(
      '{"token":"old-lamp-token"}\nrefused\n',
    );
    const asked = attempt.network.connections.map(({ host, verdict }) => `${host} ${verdict}`);
    expect(asked).toEqual(["unlisted.example not_in_list"]);
    expect(attempt.login).toEqual([{ path: join(repo.home, login), what: "refreshed" }]);
    expect(readFileSync(join(repo.home, login), "utf8")).toBe('{"token":"new-lamp-token"}');
    expect(existsSync(join(repo.home, dirname(login), "settings.json"))).toBe(false);
  },
);

it("lets an agent reach the providers of models that its user chose", async () => {
  const repo = makeLamp();
  const folder = join(repo.home, ".config/opencode");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "opencode.json"), JSON.stringify({ provider: { groq: {} } }));
  // Whoever can write to the repository names none.
  repo.write("opencode.json", JSON.stringify({ provider: { mistral: {} } }));
  const agent = makeProgram(repo, "opencode", "echo on > lamp.txt");
  const { summary } = await repo.agent(["--no-verify", "--network", "allow"], [agent]);
  expect(attemptOf(summary.run_dir).network.hosts).toEqual(["opencode.ai", "models.dev", "api.groq.com"]);
});

it("copies a refreshed login out while the agent works, so that a killed tool loses little", async () => {
  const repo = makeLamp();
  const [place, left] = [join(repo.home, ".claude/.credentials.json"), join(repo.base, "left")];
  for (const folder of [dirname(place), left]) mkdirSync(folder);
  writeFileSync(place, '{"token":"old"}', { mode: 0o600 });
  const script = `printf '{"token":"new"}' > "$HOME/.claude/.credentials.json"; until [ -e "${left}/stop" ]; do sleep 0.05; done; echo on > lamp.txt`;
  const claude = makeProgram(repo, "claude", script);
  const running = repo.agent(["--no-verify", "--guard", "ns-overlay", "--keep", left], [claude]);
  try {
    await expect.poll(() => readFileSync(place, "utf8")).toBe('{"token":"new"}');
  } finally {
    writeFileSync(join(left, "stop"), "");
  }
  expect((await running).summary.outcome).toBe("unverified");
});

it.each(["ns-bind", "landlock", "audit"])(
  "says that the login stayed writable under %s, where the home folder cannot be a layer",
  async (guard) => {
    const repo = makeLamp();
    mkdirSync(join(repo.home, ".claude"));
    const place = join(repo.home, ".claude/.credentials.json");
    writeFileSync(place, "{}");
    const claude = makeClaude(repo, 'printf \'{"a":1}\' > "$HOME/.claude/.credentials.json"; echo on > lamp.txt');
    const { summary } = await repo.agent(["--no-verify", "--guard", guard], [claude]);
    expect(summary).toMatchObject({ outcome: "unverified", proof: { guard } });
    expect(attemptOf(summary.run_dir).login).toEqual([{ path: place, what: "kept" }]);
    expect(readFileSync(place, "utf8")).toBe('{"a":1}');
    const shown = await repo.verbatim("agent", "show", summary.run_id);
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain("stayed writable: the home folder cannot be a layer");
  },
);

it("refuses what a repository may not give itself, names the flag, and makes no run", async () => {
  const repo = makeLamp();
  repo.write("verbatim.config.json", JSON.stringify({ agent: { env: { pass: ["AWS_*"] } } }));
  const refused = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "true");
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain("error[CONFIG_UNTRUSTED]");
  expect(refused.stderr).toContain("agent.env.pass");
  expect(refused.stderr).toContain("--env AWS_*");
  expect((JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as { runs: unknown[] }).runs).toEqual([]);
  // Other verbs are not held up by it.
  expect((await repo.verbatim("ledger", "verify")).exit).toBe(0);
  const own = join(repo.home, ".config/verbatim");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "config.json"), JSON.stringify({ agent: { trust: [repo.root] } }));
  const args = ["agent", "--goal", "x", "--no-verify", "--json", "--", "sh", "-c", OUT];
  const trusted = await runHere(args, { cwd: repo.root, env: { ...repo.env, AWS_REGION: "north", OTHER: "hidden" } });
  const { run_dir } = JSON.parse(trusted.stdout) as { run_dir: string };
  const patch = readFileSync(join(run_dir, "artifacts/diff.patch"), "utf8");
  expect(patch).toContain("+AWS_REGION=north");
  expect(patch).not.toContain("hidden");
});

it("lists, shows and checks profiles, and says that nobody tried them", async () => {
  const repo = makeLamp();
  const own = join(repo.home, ".config/verbatim/profiles");
  mkdirSync(own, { recursive: true });
  const lamp = {
    schema_version: "verbatim-agent-profile-v1",
    name: "lamp",
    title: "Lamp",
    detect: { programs: ["lamp"] },
  };
  writeFileSync(join(own, "lamp.json"), JSON.stringify(lamp));
  const listed = await repo.verbatim("agent", "profiles");
  expect(listed.stdout).toMatch(/claude +Claude Code +built-in +claude +unchecked/);
  expect(listed.stdout).toMatch(/lamp +Lamp +user +lamp +unchecked/);
  expect((await repo.verbatim("agent", "profiles", "show", "claude")).stdout).toContain('"api.anthropic.com"');
  expect((await repo.verbatim("agent", "profiles", "check", join(own, "lamp.json"))).stdout).toContain(
    "profile lamp (Lamp) is valid",
  );
  writeFileSync(join(own, "lamp.json"), JSON.stringify({ ...lamp, env: { pass: ["A*B"] } }));
  const bad = await repo.verbatim("agent", "profiles", "check", join(own, "lamp.json"));
  expect([bad.exit, bad.stderr]).toEqual([2, expect.stringContaining("error[PROFILE_INVALID]") as string]);
  expect(bad.stderr).toContain("/env/pass/0");
  // A broken profile stops a run before anything is made.
  const run = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "true");
  expect([run.exit, run.stderr]).toEqual([2, expect.stringContaining("error[PROFILE_INVALID]") as string]);
  const unknown = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--profile", "buoy", "--", "true");
  expect(unknown.exit).toBe(2);
});
