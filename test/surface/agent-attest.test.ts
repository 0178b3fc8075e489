// Guards: what is signed about the commit of an agent, and that a check from the objects and notes of git alone passes what
// was signed and nothing else, whatever was done to commits, notes, policies and references.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { fromHex } from "../../src/core/hex.ts";
import { signEnvelope, toSigningKey } from "../../src/core/trust/index.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import type { CliResult } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";

const LIGHT = ["sh", "-c", "sed -i s/8/eight/ lamp.txt; echo wick > wick.txt; rm oil.txt; chmod +x ring.sh"];
const TYPE = "application/vnd.in-toto+json";
const POLICY = ".github/agents.json";

/** A repository whose user has a name and a key, and a policy that trusts it, in the repository itself. */
async function makeRepo(): Promise<AgentRepo> {
  const repo = makeAgentRepo();
  repo.git("config", "user.name", "Mira");
  repo.git("config", "user.email", "mira@example.org");
  repo.git("checkout", "-qb", "main");
  repo.write("lamp.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  repo.write("oil.txt", "oil\n");
  repo.write("ring.sh", "#!/bin/sh\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  await good(repo.verbatim("keys", "new", "mira"));
  mkdirSync(join(repo.root, dirname(POLICY)));
  await good(repo.verbatim("keys", "policy", "init", POLICY, "--key", "mira", "--scope", "AGENT", "--require", "true"));
  repo.git("add", ".");
  repo.git("commit", "-qm", "whom we trust");
  return repo;
}

async function good(asked: Promise<CliResult>): Promise<string> {
  const { exit, stdout, stderr } = await asked;
  expect([exit, stderr]).toEqual([0, expect.not.stringContaining("error[")]);
  return stdout;
}

/** A run whose change is committed, and attested where there is a key; the commit. */
async function commitRun(
  repo: AgentRepo,
  flags: readonly string[] = ["--verify", "true"],
  command = LIGHT,
): Promise<string> {
  const { summary } = await repo.agent(flags, command);
  await good(
    repo.verbatim("agent", "apply", summary.run_id, "--commit", ...(flags.includes("--bad") ? ["--unverified"] : [])),
  );
  return repo.git("rev-parse", "HEAD").trim();
}

const withKey = (repo: AgentRepo, ...args: string[]) =>
  runHere(args, { cwd: repo.root, env: { ...repo.env, VERBATIM_KEY_FILE: "mira" } });

/** What others have: the branch and the notes, and nothing that Verbatim keeps. */
function cloneOf(repo: AgentRepo, name: string, ...flags: string[]) {
  const root = join(repo.base, name);
  const run = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  execFileSync("git", ["clone", "-q", ...flags, `file://${repo.root}`, root], { stdio: "ignore" });
  run("config", "user.name", "Bo");
  run("config", "user.email", "bo@example.org");
  run("fetch", "-q", "origin", "+refs/notes/verbatim:refs/notes/verbatim");
  const check = async (range: string, ...more: string[]) => {
    const trust = more.includes("--trust") ? [] : ["--trust", POLICY];
    const { exit, stdout, stderr } = await runHere(["agent", "check", range, ...trust, ...more], {
      cwd: root,
      env: repo.env,
    });
    return {
      exit,
      stdout,
      stderr,
      code: /\b(?:CHECK|TRUST|USAGE|FILE)_?[A-Z_]*/.exec(`${stdout}${stderr}`)?.[0] ?? null,
    };
  };
  return { root, git: run, check };
}

type Clone = ReturnType<typeof cloneOf>;

const readNote = ({ git }: Clone, commit: string) => git("notes", "--ref=verbatim", "show", commit).trim();

function setNote({ root }: Clone, commit: string, text: string): void {
  execFileSync("git", ["notes", "--ref=verbatim", "add", "-f", "-F", "-", commit], {
    cwd: root,
    input: text,
    stdio: ["pipe", "ignore", "ignore"],
  });
}

interface Statement {
  subject: { name: string; digest: Record<string, string> }[];
  predicate: { goal: string; files: { path: string; mode: string | null; sha256: string | null }[] } & Record<
    string,
    unknown
  >;
}

const readStatement = (line: string): Statement => {
  const { payload } = JSON.parse(line) as { payload: string };
  return JSON.parse(Buffer.from(payload, "base64").toString("utf8")) as Statement;
};

/** Signs what somebody with the trusted key would never have signed by our hand. */
async function forge(
  repo: AgentRepo,
  line: string,
  edit: (statement: Statement) => void,
  seed?: string,
): Promise<string> {
  const statement = readStatement(line);
  edit(statement);
  const { commit } = { commit: statement.subject[0]! };
  const there = statement.predicate.files.filter(({ sha256 }) => sha256 !== null);
  statement.subject = [commit, ...there.map(({ path, sha256 }) => ({ name: path, digest: { sha256: sha256! } }))];
  const pem = readFileSync(join(repo.base, "home/.config/verbatim/keys/mira.key"), "utf8");
  const own = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64")
    .subarray(-32)
    .toString("hex");
  const key = await toSigningKey(nodeCrypto, fromHex(seed ?? own)!);
  return JSON.stringify(await signEnvelope(key, TYPE, Buffer.from(JSON.stringify(statement))));
}

it("a commit is attested as it lands, and holds for whoever has git and the policy", async () => {
  const repo = await makeRepo();
  const { summary } = await repo.agent(["--verify", "true"], LIGHT);
  const landed = await withKey(repo, "agent", "apply", summary.run_id, "--commit", "-m", "light the lamp");
  expect([landed.exit, landed.stderr]).toEqual([0, ""]);
  expect(landed.stdout).toMatch(
    /attested, signed by [0-9a-f]{16}\. Push both: git push origin main refs\/notes\/verbatim\n$/,
  );
  const commit = repo.git("rev-parse", "HEAD").trim();
  repo.write("notes.txt", "by hand\n");
  repo.git("add", "notes.txt");
  repo.git("commit", "-qm", "a person's");
  const clone = cloneOf(repo, "others");
  const { subject, predicate } = readStatement(readNote(clone, commit));
  const sha256 = (text: string) => nodeCrypto.sha256(text);
  const files = [
    { path: "lamp.txt", mode: "100644", sha256: sha256("1\n2\n3\n4\n5\n6\n7\neight\n9\n") },
    { path: "oil.txt", mode: null, sha256: null },
    { path: "ring.sh", mode: "100755", sha256: sha256("#!/bin/sh\n") },
    { path: "wick.txt", mode: "100644", sha256: sha256("wick\n") },
  ];
  expect(subject[0]).toEqual({ name: "commit", digest: { gitCommit: commit } });
  expect(subject.map(({ name }) => name)).toEqual(["commit", "lamp.txt", "ring.sh", "wick.txt"]);
  expect(predicate).toMatchObject({
    run_id: summary.run_id,
    goal: "mend the lamp",
    files,
    agent: { profile: "none", argv0: "sh" },
    policy: { verdict: "accept", permitted: [] },
    verification: { base: { kind: expect.any(String) }, commands: [{ cmd: "true", exit_code: 0 }], result: "PASS" },
  });
  const range = await clone.check("HEAD~2..HEAD");
  expect([range.exit, range.stderr]).toEqual([0, ""]);
  expect(range.stdout.split("\n")).toEqual([
    `✓ ${commit.slice(0, 12)}  agent  light the lamp`,
    "    by sh; true passed; signed by mira",
    expect.stringMatching(/^- [0-9a-f]{12} {2}people {2}a person's$/),
    "2 commits: 1 holds, 1 of people",
    "",
  ]);
  expect((await clone.check(commit)).exit).toBe(0);
  expect(await clone.check("HEAD~2...HEAD", "--format", "github")).toMatchObject({
    exit: 0,
    stdout: "2 commits: 1 holds, 1 of people\n",
  });
  // Nothing is made where nothing was: neither a state nor a configuration is needed.
  expect([existsSync(join(clone.root, ".verbatim")), clone.git("status", "--porcelain")]).toEqual([false, ""]);
  const all = await clone.check("HEAD~2..HEAD", "--require-all", "--format", "github");
  expect([all.exit, all.stdout]).toEqual([
    1,
    expect.stringMatching(/^::error title=CHECK_NOTE_MISSING::[0-9a-f]{12}: there is no/),
  ]);
  expect((await clone.check(commit, "--require-all")).exit).toBe(0);
});

it("whatever is done to a commit or its note, it does not hold", async () => {
  const repo = await makeRepo();
  const base = repo.git("rev-parse", "HEAD").trim();
  await commitRun(repo);
  await good(withKey(repo, "agent", "attest", "@"));
  const clone = cloneOf(repo, "others");
  const { git, check } = clone;
  const commit = git("rev-parse", "HEAD").trim();
  const note = readNote(clone, commit);
  const message = git("log", "-1", "--format=%B", commit);
  expect((await check(`${base}..HEAD`)).exit).toBe(0);
  const fails = async (code: string, says: string, range = `${base}..HEAD`) => {
    const found = await check(range);
    expect([says, found.exit, found.code, found.stdout]).toEqual([says, 1, code, expect.stringContaining(says)]);
  };
  const restore = () => {
    git("reset", "-q", "--hard", commit);
    setNote(clone, commit, note);
  };
  const head = () => git("rev-parse", "HEAD").trim();

  // Commits that were made anew: without a note, and with the note of the one they were.
  const again: readonly (readonly [string, () => void])[] = [
    ["amended", () => git("commit", "-q", "--amend", "-m", `${message}\n`, "--date", "2026-01-02T03:04:05Z")],
    [
      "squashed",
      () => {
        writeFileSync(join(clone.root, "more.txt"), "more\n");
        git("add", ".");
        git("commit", "-q", "--amend", "-m", message);
      },
    ],
    [
      "rebased",
      () => {
        git("reset", "-q", "--hard", base);
        git("commit", "-q", "--allow-empty", "-m", "in between");
        git("cherry-pick", commit);
      },
    ],
    [
      "on its head",
      () =>
        git(
          "commit",
          "-q",
          "--amend",
          "-m",
          message.replace("Verbatim-Run:", "  verbatim-run :"),
          "--date",
          "2026-01-02T03:04:05Z",
        ),
    ],
  ];
  for (const [, act] of again) {
    act();
    await fails("CHECK_NOTE_MISSING", "there is no attestation of it");
    setNote(clone, head(), note);
    await fails("CHECK_SUBJECT", "its attestation is about another commit");
    restore();
  }
  git("commit", "-q", "--amend", "-m", message.replace(/Verbatim-Run: \S+/, "Verbatim-Run: 20250102-030405-abcdef"));
  setNote(clone, head(), await forge(repo, note, ({ subject }) => (subject[0]!.digest["gitCommit"] = head())));
  await fails("CHECK_SUBJECT", "and its message names another");
  restore();

  // Notes.
  git("notes", "--ref=verbatim", "remove", commit);
  await fails("CHECK_NOTE_MISSING", "there is no attestation of it");
  setNote(clone, commit, "reviewed by Bo\n{}\n[]\n");
  await fails("CHECK_NOTE_MISSING", "has no attestation in it");
  setNote(clone, commit, await forge(repo, note, () => undefined, "11".repeat(32)));
  await fails("CHECK_UNTRUSTED", "nobody that the policy trusts signed for it");
  const envelope = JSON.parse(note) as { payload: string };
  const edited = Buffer.from(envelope.payload, "base64").toString("utf8").replace("mend the lamp", "mend the camp");
  setNote(clone, commit, JSON.stringify({ ...envelope, payload: Buffer.from(edited).toString("base64") }));
  await fails("CHECK_UNTRUSTED", "nobody that the policy trusts signed for it");
  setNote(clone, commit, await forge(repo, note, (one) => Object.assign(one, { predicateType: "urn:other" })));
  await fails("CHECK_UNTRUSTED", "no statement about a commit of an agent");

  // Statements that the key has signed, and that the commit is not.
  const forged: readonly (readonly [string, string, (files: Statement["predicate"]["files"]) => void])[] = [
    ["CHECK_FILES_DIFFER", "wick.txt was changed, and its attestation does not name it", (files) => files.pop()],
    ["CHECK_FILES_DIFFER", "lamp.txt has other bytes", (files) => (files[0]!.sha256 = "0".repeat(64))],
    [
      "CHECK_FILES_DIFFER",
      "ring.sh has the mode 100755, and was attested as one that has the mode 100644",
      (files) => (files[2]!.mode = "100644"),
    ],
    [
      "CHECK_FILES_DIFFER",
      "oil.txt is gone, and was attested as one that has the mode",
      (files) => Object.assign(files[1]!, { mode: "100644", sha256: "0".repeat(64) }),
    ],
    [
      "CHECK_FILES_DIFFER",
      "z.txt was attested, and the commit does not change it",
      (files) => files.push({ path: "z.txt", mode: null, sha256: null }),
    ],
    ["CHECK_FILES_DIFFER", "names a path twice", (files) => files.push({ ...files[0]! })],
    ["CHECK_UNTRUSTED", "no statement about a commit", (files) => (files[0]!.mode = null)],
  ];
  for (const [code, says, edit] of forged) {
    setNote(clone, commit, await forge(repo, note, ({ predicate }) => void edit(predicate.files)));
    await fails(code, says);
  }
  const said: readonly (readonly [string, string, object])[] = [
    [
      "CHECK_NOT_VERIFIED",
      "the policy asks for true, which did not run on it",
      { verification: { base: null, commands: [{ cmd: "true", exit_code: 1 }], result: "PASS" } },
    ],
    ["CHECK_NOT_VERIFIED", "nothing verified it", { verification: { base: null, commands: [], result: "NONE" } }],
    [
      "CHECK_NOT_VERIFIED",
      "its verification failed",
      { verification: { base: null, commands: [{ cmd: "true", exit_code: 1 }], result: "FAIL" } },
    ],
    [
      "CHECK_NOT_VERIFIED",
      "the policy asks for true, which did not run on it",
      { verification: { base: null, commands: [{ cmd: "false", exit_code: 0 }], result: "PASS" } },
    ],
    ["CHECK_NOT_VERIFIED", "the policy of its run did not accept it", { policy: { verdict: "reject", permitted: [] } }],
    ["CHECK_PERMIT", ".envrc was permitted for its run", { policy: { verdict: "accept", permitted: [".envrc"] } }],
  ];
  for (const [code, says, more] of said) {
    setNote(clone, commit, await forge(repo, note, ({ predicate }) => void Object.assign(predicate, more)));
    await fails(code, says);
  }
  // One that holds is enough, wherever it stands among others.
  setNote(clone, commit, `{}\n${await forge(repo, note, ({ predicate }) => void predicate.files.pop())}\n${note}\n`);
  expect((await check(`${base}..HEAD`)).exit).toBe(0);
  restore();

  // What stands in for an object here does so for nobody else.
  writeFileSync(join(clone.root, "more.txt"), "more\n");
  git("add", ".");
  git("commit", "-q", "-m", "hidden\n\nVerbatim-Run: x");
  git("replace", head(), commit);
  await fails("CHECK_NOTE_MISSING", "there is no attestation of it", head());
});

it("a policy inside the repository is that of before the commits, and what cannot be told is refused", async () => {
  const repo = await makeRepo();
  const commit = await commitRun(repo);
  await good(withKey(repo, "agent", "attest", "@"));
  const clone = cloneOf(repo, "others");
  const { git, check, root } = clone;
  const note = readNote(clone, commit);
  // A key of their own, in the very commits that are checked; and a way to it from outside.
  await good(runHere(["keys", "new", "bo"], { cwd: root, env: repo.env }));
  rmSync(join(root, POLICY));
  await good(
    runHere(["keys", "policy", "init", POLICY, "--key", "bo", "--scope", "AGENT"], { cwd: root, env: repo.env }),
  );
  git("add", ".");
  git("commit", "-qm", "trust me\n\nVerbatim-Run: mine");
  const mine = git("rev-parse", "HEAD").trim();
  const pem = readFileSync(join(repo.base, "home/.config/verbatim/keys/bo.key"), "utf8");
  const seed = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64")
    .subarray(-32)
    .toString("hex");
  const own = {
    run_id: "mine",
    files: [{ path: POLICY, mode: "100644", sha256: nodeCrypto.sha256(readFileSync(join(root, POLICY))) }],
    verification: { base: null, commands: [{ cmd: "true", exit_code: 0 }], result: "PASS" },
  };
  const forged = await forge(
    repo,
    note,
    (one) => {
      one.subject[0]!.digest["gitCommit"] = mine;
      Object.assign(one.predicate, own);
    },
    seed,
  );
  setNote(clone, mine, forged);
  symlinkSync(root, join(repo.base, "elsewhere"));
  for (const trust of [POLICY, join(root, POLICY), join(repo.base, "elsewhere", POLICY), `.github/../${POLICY}`]) {
    const found = await check(`${commit}..HEAD`, "--trust", trust);
    expect([trust, found.exit, found.code]).toEqual([trust, 1, "CHECK_UNTRUSTED"]);
  }
  // The same file, once it is what others build on, or somewhere else: it is only a matter of where it is.
  writeFileSync(join(repo.base, "copy.json"), readFileSync(join(root, POLICY)));
  expect((await check(`${commit}..HEAD`, "--trust", "../copy.json")).exit).toBe(0);
  const refused = async (code: string, exit: number, range: string, ...more: string[]) =>
    expect([range, ...more, await check(range, ...more)]).toEqual([
      range,
      ...more,
      expect.objectContaining({ exit, code }),
    ]);
  await refused("FILE_NOT_FOUND", 2, `${commit}..HEAD`, "--trust", "agents.json");
  await refused("FILE_NOT_FOUND", 2, git("rev-list", "--max-parents=0", "HEAD").trim());
  await refused("USAGE", 2, `HEAD..${commit}`);
  await refused("USAGE", 2, "HEAD..HEAD");
  for (const range of ["nowhere", "nowhere..HEAD", "HEAD..nowhere", "HEAD..--all"])
    await refused("CHECK_HISTORY_MISSING", 2, range);
  await good(repo.verbatim("keys", "policy", "init", "../bundles.json", "--key", "mira"));
  await refused("TRUST_NO_KEYS", 1, commit, "--trust", "../bundles.json");
  // Of a shallow clone nobody can tell what its oldest commit changes.
  const shallow = cloneOf(repo, "shallow", "--depth", "1");
  const found = await shallow.check("HEAD", "--trust", "../copy.json");
  expect([found.exit, found.code]).toEqual([1, "CHECK_UNTRUSTED"]);
  writeFileSync(join(repo.base, "good.json"), execFileSync("git", ["show", `HEAD:${POLICY}`], { cwd: repo.root }));
  expect(await shallow.check("HEAD", "--trust", "../good.json")).toMatchObject({
    exit: 2,
    code: "CHECK_HISTORY_MISSING",
  });
});

it("what was permitted for a run must be permitted by the policy, and what nothing verified does not pass", async () => {
  const repo = await makeRepo();
  const ci = ["sh", "-c", "mkdir -p .github/workflows; echo on > .github/workflows/ci.yml"];
  const commit = await commitRun(repo, ["--verify", "true", "--permit", ".github/workflows/"], ci);
  await good(withKey(repo, "agent", "attest", "@"));
  await commitRun(repo, ["--no-verify"]);
  const file = join(repo.base, "attestation.json");
  expect(await good(withKey(repo, "agent", "attest", "@", "--out", file))).toContain(`file  ${file}`);
  const clone = cloneOf(repo, "others");
  const check = await clone.check(`${commit}^..HEAD`);
  expect([check.exit, check.stdout]).toEqual([
    1,
    expect.stringContaining("CHECK_PERMIT: .github/workflows/ci.yml was permitted"),
  ]);
  expect(check.stdout).toContain("CHECK_NOT_VERIFIED: nothing verified it");
  expect(check.stdout).toContain("2 commits: 2 do not hold");
  expect(readNote(clone, "HEAD")).toBe(readFileSync(file, "utf8").trim());
  await good(
    repo.verbatim(
      "keys",
      "policy",
      "init",
      "../more.json",
      "--key",
      "mira",
      "--scope",
      "AGENT",
      "--permit",
      ".github/**",
    ),
  );
  expect((await clone.check(commit, "--trust", "../more.json")).exit).toBe(0);
  expect(await good(repo.verbatim("keys", "policy", "check", "../more.json"))).toContain(
    "commits of agents may change: .github/**",
  );
});

it("nothing is signed without a key, for another tree, or for what the run does not stand for; a squash can be", async () => {
  const repo = await makeRepo();
  const refused = async (code: string, exit: number, ...args: string[]) => {
    const found = await withKey(repo, "agent", "attest", ...args);
    expect([args, found.exit, found.stderr]).toEqual([args, exit, expect.stringContaining(`error[${code}]`)]);
  };
  const { summary } = await repo.agent(["--verify", "true"], LIGHT);
  const { run_id: id, run_dir } = summary;
  await refused("ATTEST_REFUSED", 1, id);
  await refused("USAGE", 2, id, "--commit", "nowhere");
  await refused("ATTEST_REFUSED", 1, id, "--commit", "HEAD");
  await good(repo.verbatim("agent", "apply", id));
  const keyless = await repo.verbatim("agent", "attest", id);
  expect([keyless.exit, keyless.stderr]).toEqual([1, expect.stringContaining("error[ATTEST_KEY_MISSING]")]);
  await refused("KEY_UNKNOWN", 2, id, "--key", "nobody");
  // Committed by hand, with a file of their own: not what the run stands for. Without it: exactly that.
  repo.git("add", ".");
  repo.write("own.txt", "own\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "by hand");
  await refused("ATTEST_REFUSED", 1, id, "--commit", "HEAD");
  repo.git("rm", "-q", "--cached", "own.txt");
  repo.git("commit", "-q", "--amend", "-m", "by hand");
  await good(withKey(repo, "agent", "attest", id, "--commit", "HEAD"));
  const check = (...more: string[]) => repo.verbatim("agent", "check", "HEAD", "--trust", POLICY, ...more);
  expect([(await check("--require-all")).exit, (await check()).stdout]).toEqual([
    0,
    expect.stringContaining("1 of people"),
  ]);
  // Two commits in one with the tree of the run: what the second did is not the run's.
  repo.git("commit", "-q", "--allow-empty", "-m", "nothing");
  await refused("ATTEST_REFUSED", 1, id, "--commit", "HEAD");
  // A second key joins, and the statement stays the one it was.
  await good(repo.verbatim("keys", "new", "bo"));
  const before = readStatement(readFileSync(join(run_dir, "agent/attestation.dsse.json"), "utf8"));
  const both = await good(repo.verbatim("agent", "attest", id, "--commit", "HEAD^", "--key", "bo"));
  expect(both).toMatch(/signed by [0-9a-f]{16}, [0-9a-f]{16}\n/);
  const note = repo.git("notes", "--ref=verbatim", "show", "HEAD^").trim();
  expect([note.split("\n").length, readStatement(note)]).toEqual([1, before]);
  await good(
    repo.verbatim(
      "keys",
      "policy",
      "init",
      "../two.json",
      "--key",
      "mira",
      "--key",
      "bo",
      "--scope",
      "AGENT",
      "--threshold",
      "2",
    ),
  );
  expect((await repo.verbatim("agent", "check", "HEAD^", "--trust", "../two.json", "--require-all")).exit).toBe(0);
  const { stdout } = await repo.verbatim("ledger", "show", "--stream", `workflow/${id}`, "--json");
  expect(stdout.match(/"AGENT_ATTESTED"/g)).toHaveLength(2);
});

it("what was signed is kept before it is noted, and a note that is missing is made up for", async () => {
  const repo = await makeRepo();
  const { summary } = await repo.agent(["--verify", "true", "--commit"], LIGHT);
  mkdirSync(join(repo.root, ".git/refs/notes"), { recursive: true });
  const lock = join(repo.root, ".git/refs/notes/verbatim.lock");
  writeFileSync(lock, "");
  const landed = await withKey(repo, "agent", "apply", summary.run_id);
  expect([landed.exit, landed.stderr]).toEqual([
    0,
    expect.stringContaining("not attested: others keep writing refs/notes/verbatim"),
  ]);
  const kept = readFileSync(join(summary.run_dir, "agent/attestation.dsse.json"), "utf8");
  expect(repo.git("for-each-ref", "refs/notes")).toBe("");
  rmSync(lock);
  expect(await good(withKey(repo, "agent", "attest", summary.run_id))).toContain("attested ");
  expect(`${repo.git("notes", "--ref=verbatim", "show", "HEAD").trim()}\n`).toBe(kept);
  // Again: not another signature, entry or commit of notes.
  const ref = repo.git("rev-parse", "refs/notes/verbatim");
  await good(withKey(repo, "agent", "attest", summary.run_id));
  expect(repo.git("rev-parse", "refs/notes/verbatim")).toBe(ref);
  expect(
    (await repo.verbatim("ledger", "show", "--stream", `workflow/${summary.run_id}`, "--json")).stdout.match(
      /"AGENT_ATTESTED"/g,
    ),
  ).toHaveLength(1);
});

it("a key is taken from a variable or the user's own configuration, never from a repository that is not trusted", async () => {
  const repo = await makeRepo();
  const pem = readFileSync(join(repo.base, "home/.config/verbatim/keys/mira.key"), "utf8");
  const start = (env: Readonly<Record<string, string>>) =>
    runHere(
      [
        "agent",
        "--goal",
        "x",
        "--verify",
        "true",
        "--commit",
        "--apply",
        "auto",
        "--",
        "sh",
        "-c",
        "date +%N > lamp.txt",
      ],
      {
        cwd: repo.root,
        env: { ...repo.env, ...env },
      },
    );
  const broken = await start({ VERBATIM_KEY: pem.replace(/[A-Z]/, "!") });
  expect([broken.exit, broken.stderr]).toEqual([2, expect.stringContaining("error[KEY_INVALID]")]);
  expect(broken.stderr).not.toContain(pem.split("\n")[1]!.slice(4, 40));
  expect((await repo.verbatim("agent", "list")).stdout).toContain("no agent runs yet");
  expect(await good(start({ VERBATIM_KEY: pem }))).toContain("applied");
  expect(repo.git("notes", "--ref=verbatim", "show", "HEAD")).toContain("payload");
  repo.write("verbatim.config.json", JSON.stringify({ agent: { attest: { key: "../stolen.key", notes: false } } }));
  repo.git("add", ".");
  repo.git("commit", "-qm", "a configuration");
  const untrusted = await start({});
  expect([untrusted.exit, untrusted.stderr]).toEqual([2, expect.stringContaining("agent.attest.key")]);
  repo.write("verbatim.config.json", JSON.stringify({ agent: { attest: { notes: false } } }));
  repo.trust({ attest: { key: "mira" } });
  const { summary } = await repo.agent(["--verify", "true"], ["sh", "-c", "date +%N > lamp.txt"]);
  repo.git("commit", "-qam", "a configuration");
  expect(await good(repo.verbatim("agent", "apply", summary.run_id, "--commit"))).toContain("attested, signed by");
  expect(() => repo.git("notes", "--ref=verbatim", "show", "HEAD")).toThrow();
});

it("nothing is signed for the same change in another tree, or for a change that the policy refused", async () => {
  const repo = await makeRepo();
  const refused = async (says: string, ...args: string[]) => {
    const { exit, stderr } = await withKey(repo, "agent", "attest", ...args);
    expect([exit, stderr]).toEqual([1, expect.stringContaining("error[ATTEST_REFUSED]")]);
    expect(stderr).toContain(says);
  };
  // What was verified is the whole tree: with another commit below it nobody has seen that the commands pass.
  const { summary } = await repo.agent(["--verify", "true"], LIGHT);
  repo.write("tide.txt", "low\n");
  repo.git("add", "tide.txt");
  repo.git("commit", "-qm", "a person's");
  repo.write("lamp.txt", "1\n2\n3\n4\n5\n6\n7\neight\n9\n");
  repo.write("wick.txt", "wick\n");
  repo.write("ring.sh", "#!/bin/sh\n", 0o755);
  rmSync(join(repo.root, "oil.txt"));
  repo.git("add", "--all", ".");
  repo.git("commit", "-qm", "by hand");
  await refused("does not have the tree that the run stands for", summary.run_id, "--commit", "HEAD");
  // A person may commit what an agent was refused; its run does not vouch for that.
  const bad = await repo.agent(
    ["--verify", "true"],
    ["sh", "-c", "mkdir -p .github/workflows; echo on > .github/workflows/x.yml"],
  );
  expect(bad.summary.outcome).toBe("rejected");
  repo.write(".github/workflows/x.yml", "on\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "by hand");
  await refused("the run is rejected", bad.summary.run_id, "--commit", "HEAD");
  expect(existsSync(join(bad.summary.run_dir, "agent/attestation.dsse.json"))).toBe(false);
});
