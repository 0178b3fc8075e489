// Guards: secrets of the repository and of the user stay hidden from agents and from what verifies their work.
import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo, type Summary } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";

const SECRET = "tr0ub4dor-in-the-lamp-room";

/** A repository and a home with secrets in them. */
function makeSecretRepo(): AgentRepo & { readonly home: string; inHome(path: string, text?: string): void } {
  const repo = makeAgentRepo();
  const home = join(repo.base, "home");
  const inHome = (path: string, text = `${SECRET}\n`) => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  };
  repo.write("lamp.txt", "off\n");
  repo.write(".gitignore", ".env\n");
  repo.write(".env", `LAMP_KEY=${SECRET}\n`);
  repo.write("keys/tracked.pem", `${SECRET}\n`);
  repo.write(".env.example", "LAMP_KEY=\n");
  repo.write("node_modules/box/ca.pem", "public\n");
  repo.git("add", "-f", ".gitignore", "lamp.txt", "keys", ".env.example");
  repo.git("commit", "-qm", "first");
  // Neither tracked nor ignored: it is part of what git was asked about before the agent began.
  repo.write(".env.staging", `STAGING_KEY=${SECRET}\n`);
  for (const path of [".ssh/id_ed25519", ".netrc", ".config/gh/hosts.yml", ".codex/auth.json"]) inHome(path);
  inHome(".npmrc", "registry=https://registry.example\n");
  inHome("notes.txt", "no secret\n");
  return { ...repo, home, inHome };
}

interface Masked {
  readonly masks: string[];
  readonly not_hidden?: string[];
}

const attemptOf = (dir: string) =>
  JSON.parse(readFileSync(join(dir, "agent/attempts/01/attempt.json"), "utf8")) as Masked;

/** What an agent finds at some places, one line each: how many bytes, or that there is nothing. */
const LOOK = (places: readonly string[]) =>
  places.map((place) => `printf '%s ' "${place}"; cat "${place}" 2>/dev/null | wc -c`).join("\n");

const PLACES = [
  ".env",
  "keys/tracked.pem",
  ".env.example",
  "node_modules/box/ca.pem",
  "$HOME/.ssh/id_ed25519",
  "$HOME/.netrc",
  "$HOME/.config/gh/hosts.yml",
  "$HOME/.codex/auth.json",
  "$HOME/.npmrc",
  "$HOME/notes.txt",
];
const HIDDEN = [".env", ".env.staging", "keys/tracked.pem", "~/.codex/auth.json", "~/.config/gh", "~/.netrc", "~/.ssh"];

describe.each(["ns-overlay", "ns-bind"])("under %s", (guard) => {
  it("an agent finds secret files empty, and its change has nothing of them", async () => {
    const repo = makeSecretRepo();
    const script = `{ ${LOOK(PLACES)}\ngit status --porcelain; git cat-file --batch-all-objects --batch --buffer | grep -ac -e env.staging -e STAGING_KEY; ls /run; } > seen.txt; echo mine > .env; rm keys/tracked.pem; echo on > lamp.txt`;
    const { summary, result } = await repo.agent(["--no-verify", "--guard", guard], ["sh", "-c", script]);
    expect(result.stderr).toContain("7 secret places hidden from the agent: .env, .env.staging, keys/tracked.pem");
    const patch = readFileSync(join(summary.run_dir, "artifacts/diff.patch"), "utf8");
    const seen = [...patch.matchAll(/^\+(.*)$/gm)].map((match) => match[1]!.replace(join(repo.base, "home"), "$HOME"));
    expect(seen.filter((line) => / [0-9]+$/.test(line))).toEqual([
      ".env 0",
      "keys/tracked.pem 0",
      ".env.example 10",
      "node_modules/box/ca.pem 7",
      "$HOME/.ssh/id_ed25519 0",
      "$HOME/.netrc 0",
      "$HOME/.config/gh/hosts.yml 0",
      "$HOME/.codex/auth.json 0",
      "$HOME/.npmrc 34",
      "$HOME/notes.txt 10",
    ]);
    // git does not call the tracked one changed.
    expect(seen.filter((line) => /^.[MD] /.test(line))).toEqual([]);
    expect(seen).toContain("?? seen.txt");
    // No object of git has what git was only asked about.
    expect(seen.at(-1)).toBe("0");
    expect(summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt", "seen.txt"]);
    expect(summary.changes.not_carried).toEqual([
      { path: ".env", why: "hidden", sha256: null },
      { path: "keys/tracked.pem", why: "hidden", sha256: null },
    ]);
    expect(attemptOf(summary.run_dir).masks).toEqual(HIDDEN);
    expect(readFileSync(join(repo.root, ".env"), "utf8")).toBe(`LAMP_KEY=${SECRET}\n`);
    expect(readFileSync(join(repo.root, "keys/tracked.pem"), "utf8")).toBe(`${SECRET}\n`);
    const shown = (await repo.verbatim("agent", "show", summary.run_id)).stdout.replaceAll(/\s+/g, " ");
    expect(shown).toContain("7 secret places hidden from it: .env, .env.staging, keys/tracked.pem,");
    expect(shown).toContain(".env is not part of the change: the agent cannot see what is in it; let it: --unmask");
  });
});

it("hides credentials where a variable of their tool moved them, and logins that a repository's own profile leaves out", async () => {
  const repo = makeSecretRepo();
  repo.inHome("cloud/key.json");
  repo.inHome("boxes/config.json");
  repo.inHome(".claude/.credentials.json", "{}");
  repo.inHome(".cargo/credentials.toml");
  repo.write("account.json", SECRET);
  const kept = { schema_version: "verbatim-agent-profile-v1", title: "Another", detect: { programs: ["nobody"] } };
  repo.write("verbatim.config.json", JSON.stringify({ agent: { profiles: { codex: kept, claude: kept } } }));
  const env = {
    KUBECONFIG: `${join(repo.home, "notes.txt")}:${join(repo.home, "cloud/key.json")}`,
    DOCKER_CONFIG: join(repo.home, "boxes"),
    GOOGLE_APPLICATION_CREDENTIALS: join(repo.root, "account.json"),
  };
  const places = ["cloud/key.json", "boxes/config.json", ".codex/auth.json", ".claude/.credentials.json"];
  const all = [...places, ".cargo/credentials.toml", "notes.txt"].map((place) => `$HOME/${place}`);
  const script = `{ ${LOOK([...all, "account.json"])}; } > seen.txt`;
  const flags = ["agent", "--goal", "look", "--no-verify", "--json", "--", "sh", "-c", script];
  const { stdout } = await runHere(flags, { cwd: repo.root, env: { ...repo.env, ...env } });
  const patch = readFileSync(join((JSON.parse(stdout) as Summary).run_dir, "artifacts/diff.patch"), "utf8");
  expect([...patch.matchAll(/^\+.* ([0-9]+)$/gm)].map(([, size]) => size)).toEqual(["0", "0", "0", "0", "0", "0", "0"]);
});

it("shows what somebody asks to show, to the agent and to what verifies its work, and nothing of Verbatim itself", async () => {
  const repo = makeSecretRepo();
  repo.inHome(".config/verbatim/keys/k", SECRET);
  const script = `{ ${LOOK([...PLACES, "$HOME/.config/verbatim/keys/k"])}; } > seen.txt`;
  const read = (dir: string) => readFileSync(join(dir, "artifacts/diff.patch"), "utf8");
  const verify = ["--verify-sh", "test -s .env && test ! -s keys/tracked.pem"];
  const flags = ["--unmask", ".env", "--unmask", "~/.ssh/id_ed25519", "--unmask", "~/.config/verbatim/keys"];
  const { summary } = await repo.agent([...verify, ...flags], ["sh", "-c", script]);
  expect(summary.outcome).toBe("verified");
  expect(read(summary.run_dir)).toMatch(/^\+\.env 36$/m);
  expect(read(summary.run_dir)).toMatch(/^\+.*\.ssh\/id_ed25519 27$/m);
  expect(read(summary.run_dir)).toMatch(/^\+keys\/tracked\.pem 0$/m);
  expect(read(summary.run_dir)).toMatch(/^\+.*verbatim\/keys\/k 0$/m);
  const all = await repo.agent(["--no-verify", "--show-secrets"], ["sh", "-c", `${script}; cat .env`]);
  expect((await repo.verbatim("agent", "logs", "@")).stdout).toContain("LAMP_KEY=[redacted:LAMP_KEY]");
  expect(read(all.summary.run_dir)).not.toMatch(/^\+(?!.*verbatim\/keys).* 0$/m);
  expect(read(all.summary.run_dir)).toMatch(/^\+.*verbatim\/keys\/k 0$/m);
  expect(attemptOf(all.summary.run_dir).masks).toEqual([]);
});

it("hides the same from verify commands, names the flag where they fail for want of it, and shows on request", async () => {
  const repo = makeSecretRepo();
  // Changed since the last commit: what is written back for the verification is not the secret either.
  repo.write("keys/tracked.pem", `${SECRET} of today\n`);
  const probe = "cat .env keys/tracked.pem ~/.ssh/id_ed25519 2>/dev/null; test -s .env";
  const { summary } = await repo.agent(["--verify-sh", probe], ["sh", "-c", "echo on > lamp.txt"]);
  expect(summary.outcome).toBe("verify_failed");
  const { stdout } = await repo.verbatim("agent", "show", "@");
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(
    "7 secret files are hidden from it; show one: --unmask .env (code of the agent can then read it)",
  );
  expect((await repo.verbatim("agent", "logs", "@", "--verify")).stdout).not.toContain("tr0ub4dor");
  const again = await repo.verbatim("agent", "verify", "@", "--unmask", ".env", "--json");
  expect([again.exit, JSON.parse(again.stdout).outcome]).toEqual([0, "verified"]);
  // What a hidden file assigns is known, also when it was shown to somebody else.
  expect((await repo.verbatim("agent", "logs", "@", "--verify")).stdout).not.toContain("of today");
});

it("also hides what is in a clean checkout and in the repository behind it", async () => {
  const repo = makeSecretRepo();
  repo.write("verbatim.config.json", JSON.stringify({ agent: { verify: { base: "checkout" } } }));
  const probe = `test ! -s keys/tracked.pem && test ! -s ${repo.root}/.env && test ! -s ${repo.root}/keys/tracked.pem`;
  const { summary } = await repo.agent(["--verify-sh", probe], ["sh", "-c", "echo on > lamp.txt"]);
  expect([summary.outcome, summary.reason]).toEqual(["verified", null]);
});

it("follows links and other names, and hides what the configuration adds", async () => {
  const repo = makeSecretRepo();
  repo.inHome("vault/real.env", `LAMP_KEY=${SECRET}\n`);
  repo.write("config/plain.txt", `${SECRET}\n`);
  symlinkSync(join(repo.home, "vault/real.env"), join(repo.root, ".env.local"));
  symlinkSync("config/plain.txt", join(repo.root, "id_rsa"));
  linkSync(join(repo.root, ".env"), join(repo.root, "config/twin.txt"));
  repo.write("config/harbour.txt", `${SECRET}\n`);
  repo.inHome(".harbour", SECRET);
  repo.write("verbatim.config.json", JSON.stringify({ agent: { masks: { add: ["harbour.txt", "~/.harbour"] } } }));
  const places = [".env.local", "$HOME/vault/real.env", "id_rsa", "config/plain.txt", "config/twin.txt"];
  const more = ["config/harbour.txt", "$HOME/.harbour"];
  const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", `{ ${LOOK([...places, ...more])}; } > seen.txt`]);
  const patch = readFileSync(join(summary.run_dir, "artifacts/diff.patch"), "utf8");
  expect([...patch.matchAll(/^\+.* ([0-9]+)$/gm)].map((match) => match[1])).toEqual([
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
    "0",
  ]);
});

it("says under a guard that cannot hide files that it did not, and hides the copy all the same", async () => {
  const repo = makeSecretRepo();
  const script = `cat .env > copy.txt; cat ${repo.root}/.env > real.txt; exit 0`;
  const { summary, result } = await repo.agent(["--no-verify", "--guard", "audit"], ["sh", "-c", script]);
  expect(result.stderr).toContain(
    "! SECRETS_NOT_HIDDEN: the guard audit cannot hide files, so the agent can read .env",
  );
  expect(attemptOf(summary.run_dir)).toMatchObject({ masks: [], not_hidden: HIDDEN });
  const shown = (await repo.verbatim("agent", "show", summary.run_id)).stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain("SECRETS_NOT_HIDDEN: this guard cannot hide files, so it could read .env");
});

it.each([
  [{ masks: { show: [".env"] } }, "agent.masks.show", "--unmask .env"],
  [{ verify: { unmask: [".env"] } }, "agent.verify.unmask", "--unmask .env"],
])("refuses %j of a repository that is not trusted", async (agent, key, flag) => {
  const repo = makeSecretRepo();
  repo.write("verbatim.config.json", JSON.stringify({ agent }));
  const refused = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--", "true");
  expect(refused.exit).toBe(2);
  for (const text of ["error[CONFIG_UNTRUSTED]", key, flag]) expect(refused.stderr).toContain(text);
  repo.inHome(".config/verbatim/config.json", JSON.stringify({ agent: { trust: [repo.root] } }));
  const { summary } = await repo.agent(["--verify-sh", "test -s .env"], ["sh", "-c", "echo on > lamp.txt"]);
  expect(summary.outcome).toBe("verified");
});

it("does not let a repository show a secret by calling it none", async () => {
  const repo = makeSecretRepo();
  const policy = { secret: ["!.env"], permit: [".env"] };
  repo.write("verbatim.config.json", JSON.stringify({ agent: { policy } }));
  const { summary } = await repo.agent(["--no-verify"], ["sh", "-c", "cat .env > seen.txt; echo on > lamp.txt"]);
  expect(summary.changes.files.map(({ path }) => path)).toEqual(["lamp.txt", "seen.txt"]);
  expect(attemptOf(summary.run_dir).masks).toContain(".env");
  const patch = readFileSync(join(summary.run_dir, "artifacts/diff.patch"), "utf8");
  expect(patch).not.toContain("tr0ub4dor");
});

it("writes nothing of a hidden file down, even where it was shown", async () => {
  const repo = makeSecretRepo();
  await repo.agent(["--no-verify", "--guard", "audit"], ["sh", "-c", `cat ${repo.root}/.env; echo on > lamp.txt`]);
  const { stdout } = await repo.verbatim("agent", "logs", "@");
  expect(stdout).toContain("LAMP_KEY=[redacted:LAMP_KEY]");
  const found = spawnSync("grep", ["-rlaF", SECRET, join(repo.base, "state"), join(repo.root, ".verbatim")]);
  expect([found.status, String(found.stdout)]).toEqual([1, ""]);
});
