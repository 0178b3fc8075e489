// Guards: what ended runs leave takes little room, verifies as before, and goes when it is old; what is needed stays.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";
import { openInProcess } from "../support/mcp-in-process.ts";

const FILES = 3000;

/** A tree whose records are larger than what is slimmed. */
function makeWide(): AgentRepo {
  const repo = makeAgentRepo();
  for (let i = 0; i < FILES; i++) repo.write(`src/${Math.floor(i / 100)}/lamp-${i}.txt`, `lamp ${i}\n`);
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const LIGHT = (n: number) => ["sh", "-c", `echo ${n} >> src/0/lamp-0.txt`];
const records = (repo: AgentRepo) => join(repo.root, ".verbatim/runs");
const listRecords = (repo: AgentRepo) => readdirSync(records(repo)).sort();
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + statSync(join(one.parentPath, one.name)).size, 0);

async function run(repo: AgentRepo, n: number, flags: readonly string[] = ["--no-verify"]) {
  const { summary } = await repo.agent(flags, LIGHT(n));
  expect([summary.outcome, summary.reason === null]).toEqual([
    flags.includes("--no-verify") ? "unverified" : "verified",
    !flags.includes("--no-verify"),
  ]);
  return summary;
}

const verify = async (repo: AgentRepo, name: string) => {
  const { stdout } = await repo.verbatim("catalytic", "verify", name, "--tree", "none", "--json");
  const { accepted, errors } = JSON.parse(stdout) as { accepted: boolean; errors: { code: string; file?: string }[] };
  return { accepted, errors };
};

it("an ended run is slimmed by the next one, verifies as before, gives its files back, and shares what is the same", async () => {
  const repo = makeWide();
  await run(repo, 1, ["--verify", "true"]);
  const first = listRecords(repo);
  expect(first).toHaveLength(2);
  const before = new Map(
    first.map((name) => [
      name,
      new Map(
        readdirSync(join(records(repo), name)).map((file) => [file, readFileSync(join(records(repo), name, file))]),
      ),
    ]),
  );
  const whole = sizeOf(records(repo));
  await run(repo, 2);
  for (const name of first) {
    const folder = join(records(repo), name);
    expect(readdirSync(folder)).toContain("PIECES.json");
    expect(readdirSync(folder)).not.toContain("LEDGER.jsonl");
    expect(await verify(repo, name)).toEqual({ accepted: true, errors: [] });
    const out = join(repo.base, `out-${name}`);
    const { stdout } = await repo.verbatim("catalytic", "show", name, "--unpack", out);
    expect(stdout).toBe(`unpacked ${before.get(name)!.size} files of ${name}\n`);
    for (const [file, bytes] of before.get(name)!)
      expect([file, readFileSync(join(out, file)).equals(bytes)]).toEqual([file, true]);
    const ledger = await repo.verbatim("catalytic", "show", name, "--artifact", "LEDGER.jsonl");
    expect(ledger.stdout).toBe(before.get(name)!.get("LEDGER.jsonl")!.toString("utf8"));
    const uri = `run://catalytic/${name}/LEDGER.jsonl`;
    await using mcp = await openInProcess(repo.root, repo.env);
    // It is found, and too long for an agent, as it was before.
    await expect(mcp.clients.modern.readResource({ uri })).rejects.toThrow(/RESPONSE_TOO_LARGE/);
  }
  // The page reads the same files through the run.
  const app = openApp({ surface: "library", start: repo.root, env: repo.env, platform: process.platform });
  onTestFinished(() => app.close());
  const { files } = await app.call("agent.artifacts", { run: "@2" });
  const [attempt] = (await app.call("agent.show", { run: "@2" })).attempts;
  const kept = before.get(attempt!.catalytic_run!)!;
  for (const file of ["LEDGER.jsonl", "PRE_TREE.json", "PROOF.json"]) {
    const path = `proof/1/${file}`;
    expect(files.find((one) => one.path === path)).toEqual({ path, bytes: kept.get(file)!.length });
    const parts: Buffer[] = [];
    for (let from = 0, isAll = false; !isAll; ) {
      const { base64, next, ended } = await app.call("agent.artifact", { run: "@2", path, from });
      parts.push(Buffer.from(base64, "base64"));
      [from, isAll] = [next, ended];
    }
    expect([path, Buffer.concat(parts).equals(kept.get(file)!)]).toEqual([path, true]);
  }
  const lean = first.reduce((sum, name) => sum + sizeOf(join(records(repo), name)), 0);
  expect([whole > 2_000_000, lean < 60_000]).toEqual([true, true]);
  // Of the next one almost nothing is new: its tree is the same.
  const pieces = join(repo.root, ".verbatim/state/blobs");
  const store = existsSync(pieces) ? pieces : join(repo.root, ".verbatim/state");
  const full = sizeOf(store);
  const { stdout } = await repo.verbatim("agent", "prune", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ runs: [], bytes: 0, pieces: 0, slimmed: expect.any(Number) });
  expect((JSON.parse(stdout) as { slimmed: number }).slimmed).toBeGreaterThan(500_000);
  expect(sizeOf(store) - full).toBeLessThan(400_000);
  const { run_id } = (
    JSON.parse((await repo.verbatim("agent", "list", "--json")).stdout) as { runs: { run_id: string }[] }
  ).runs[1]!;
  const stream = await repo.verbatim("ledger", "show", "--stream", `workflow/${run_id}`, "--json");
  expect(stream.stdout.match(/"AGENT_SLIMMED"/g)).toHaveLength(2);
});

it("there is always the whole file or the list and every piece, wherever it was killed, and what was edited is not hidden", async () => {
  const repo = makeWide();
  await run(repo, 1);
  const [name] = listRecords(repo);
  const folder = join(records(repo), name!);
  const whole = new Map(["LEDGER.jsonl", "PRE_TREE.json"].map((file) => [file, readFileSync(join(folder, file))]));
  // Somebody edited it (it is one file with POST_TREE.json, as it was written): it stays where it is, for whoever verifies it.
  rmSync(join(folder, "PRE_TREE.json"));
  writeFileSync(
    join(folder, "PRE_TREE.json"),
    whole.get("PRE_TREE.json")!.toString("utf8").replace("lamp-0.txt", "lamp-x.txt"),
  );
  await repo.verbatim("agent", "prune");
  expect(existsSync(join(folder, "PRE_TREE.json"))).toBe(true);
  expect((await verify(repo, name!)).errors.map(({ code, file }) => `${code} ${file}`)).toContain(
    "ARTIFACT_HASH_MISMATCH PRE_TREE.json",
  );
  // Killed between the list and the files: both are there, and the next one finishes.
  rmSync(join(folder, "PRE_TREE.json"));
  for (const [file, bytes] of whole) writeFileSync(join(folder, file), bytes);
  expect(await verify(repo, name!)).toEqual({ accepted: true, errors: [] });
  await repo.verbatim("agent", "prune");
  expect(existsSync(join(folder, "LEDGER.jsonl"))).toBe(false);
  expect(await verify(repo, name!)).toEqual({ accepted: true, errors: [] });
  // A list that names what is not there takes no file with it, and stands for none.
  const list = JSON.parse(readFileSync(join(folder, "PIECES.json"), "utf8")) as {
    files: { name: string; pieces: string[] }[];
  };
  const ledger = list.files.find((file) => file.name === "LEDGER.jsonl")!;
  const [piece] = ledger.pieces;
  ledger.pieces[0] = "0".repeat(64);
  writeFileSync(join(folder, "PIECES.json"), `${JSON.stringify(list)}\n`);
  writeFileSync(join(folder, "LEDGER.jsonl"), whole.get("LEDGER.jsonl")!);
  await repo.verbatim("agent", "prune");
  expect(existsSync(join(folder, "LEDGER.jsonl"))).toBe(true);
  rmSync(join(folder, "LEDGER.jsonl"));
  expect((await verify(repo, name!)).errors).toContainEqual(
    expect.objectContaining({ code: "ARTIFACT_MISSING", file: "LEDGER.jsonl" }),
  );
  const out = await repo.verbatim("catalytic", "show", name!, "--unpack", "../out");
  expect([out.exit, out.stderr]).toEqual([2, expect.stringContaining("error[ARTIFACT_UNKNOWN]")]);
  expect(piece).toMatch(/^[0-9a-f]{64}$/);
});

it("prune takes logs, transcripts and proofs beyond what is kept, and leaves what lands, what is pinned and what is young", async () => {
  const repo = makeWide();
  const [old, kept, failed, thrown] = [
    await run(repo, 1, ["--verify", "true"]),
    await run(repo, 2, ["--verify", "true"]),
    (await repo.agent(["--verify", "false"], LIGHT(3))).summary,
    await run(repo, 4),
  ];
  expect((await repo.verbatim("agent", "discard", thrown.run_id)).exit).toBe(0);
  expect((await repo.verbatim("agent", "pin", kept.run_id)).stdout).toContain("is kept whole");
  const dry = await repo.verbatim("agent", "prune", "--keep", "0", "--dry-run");
  expect(
    dry.stdout
      .split("\n")
      .slice(0, -2)
      .map((line) => line.split("  ")[0]),
  ).toEqual([thrown.run_id, failed.run_id]);
  expect(dry.stdout).toContain("nothing was changed");
  const files = (of: { run_dir: string }) => readdirSync(of.run_dir, { recursive: true, encoding: "utf8" }).sort();
  expect(files(failed)).toContain("agent/verifications/01/stdout.log");
  const said = await repo.verbatim("agent", "prune", "--keep", "0");
  expect([said.exit, said.stderr]).toEqual([0, ""]);
  expect(said.stdout).toContain("gone: logs, transcripts and proofs of 2 runs");
  // A verified run that is young, and a pinned one, are whole.
  expect(files(old)).toContain("agent/verifications/01/stdout.log");
  expect(files(failed)).not.toContain("agent/verifications/01/stdout.log");
  expect(files(failed)).not.toContain("agent/attempts/01/output.log");
  expect(files(failed)).toContain("agent/candidates/01/diff.patch");
  expect(files(thrown)).toContain("agent/candidates/01/candidate.json");
  expect(files(thrown)).not.toContain("agent/candidates/01/diff.patch");
  // What is left of it can still be verified and applied.
  expect((await repo.verbatim("agent", "show", failed.run_id)).stdout).toContain("verify failed");
  expect((await repo.verbatim("agent", "verify", failed.run_id, "--verify", "true")).exit).toBe(0);
  expect((await repo.verbatim("agent", "apply", failed.run_id)).exit).toBe(0);
  // Once it is old only the pin keeps a run; pieces go with the last list that names them.
  const before = listRecords(repo).length;
  const all = await repo.verbatim("agent", "prune", "--older-than", "0d");
  expect(all.stdout).toContain(old.run_id);
  expect(all.stdout).not.toContain(kept.run_id);
  expect(files(kept)).toContain("agent/verifications/01/stdout.log");
  expect(listRecords(repo).length).toBeLessThan(before);
  for (const name of listRecords(repo)) expect(await verify(repo, name)).toEqual({ accepted: true, errors: [] });
  await repo.verbatim("agent", "pin", kept.run_id, "--unpin");
  const last = await repo.verbatim("agent", "prune", "--older-than", "0d");
  expect(last.stdout).toMatch(/and \d+ shared pieces that nobody else used/);
  expect((await repo.verbatim("agent", "apply", kept.run_id, "--dry-run")).exit).toBe(1);
  expect((await repo.verbatim("ledger", "verify", "--quiet")).exit).toBe(0);
  expect((await repo.verbatim("agent", "prune", "--max-size", "1")).stdout).toContain(
    "gone: logs, transcripts and proofs of 0 runs",
  );
});

it("retention of the configuration is applied once a day, after a run has begun", async () => {
  const repo = makeWide();
  repo.trust({ retention: { keep_runs: 1 } });
  const first = (await repo.agent(["--verify", "false"], LIGHT(1))).summary;
  const log = join(first.run_dir, "agent/verifications/01/stdout.log");
  await repo.agent(["--no-verify"], LIGHT(2));
  await repo.agent(["--no-verify"], LIGHT(3));
  expect(existsSync(log)).toBe(true);
  const stamp = join(repo.root, ".verbatim/state/pieces/retention.json");
  writeFileSync(stamp, '{"at":1}\n');
  await runHere(["agent", "--goal", "x", "--no-verify", "--", ...LIGHT(4)], { cwd: repo.root, env: repo.env });
  expect(existsSync(log)).toBe(false);
});

it("prune takes nothing that a forged record names: no folder elsewhere, no record of others, no content of a change", async () => {
  const repo = makeWide();
  const binary = ["sh", "-c", "head -c 70000 /dev/urandom > flame.bin; echo on >> src/0/lamp-0.txt"];
  const change = (await repo.agent(["--verify", "true"], binary)).summary;
  const other = await run(repo, 2);
  const forged = (await repo.agent(["--verify", "false"], LIGHT(3))).summary;
  await repo.verbatim("agent", "prune");
  const readJson = (place: string) => JSON.parse(readFileSync(place, "utf8")) as Record<string, unknown>;
  const attempt = join(forged.run_dir, "agent/attempts/01/attempt.json");
  const recordOf = (of: { run_dir: string }) =>
    String(readJson(join(of.run_dir, "agent/attempts/01/attempt.json"))["catalytic_run"]);
  const own = recordOf(forged);
  const name = (to: string) => writeFileSync(attempt, JSON.stringify({ ...readJson(attempt), catalytic_run: to }));
  const prune = () => repo.verbatim("agent", "prune", "--keep", "0");
  const again = () => {
    const { pruned_at: _, ...rest } = readJson(join(forged.run_dir, "agent/run.json"));
    writeFileSync(join(forged.run_dir, "agent/run.json"), JSON.stringify(rest));
  };
  // A run that came from another machine may name anything as its record.
  repo.write(".verbatim/out/kept.txt", "kept\n");
  for (const to of ["../../src", "../out", recordOf(other)]) {
    name(to);
    expect([to, (await prune()).exit]).toEqual([to, 0]);
    again();
  }
  expect([
    existsSync(join(repo.root, "src/0/lamp-0.txt")),
    existsSync(join(repo.root, ".verbatim/out/kept.txt")),
  ]).toEqual([true, true]);
  expect(await verify(repo, recordOf(other))).toEqual({ accepted: true, errors: [] });
  // So may its list of pieces: what is no part of it stays.
  const { files } = readJson(join(change.run_dir, "agent/candidates/01/candidate.json")) as {
    files: { path: string; sha256: string }[];
  };
  const { sha256 } = files.find(({ path }) => path === "flame.bin")!;
  const list = join(records(repo), own, "PIECES.json");
  const pieces = readJson(list) as { files: { pieces: string[] }[] };
  for (const file of pieces.files) file.pieces.push(sha256);
  writeFileSync(list, JSON.stringify(pieces));
  name(own);
  expect((await prune()).exit).toBe(0);
  expect(existsSync(list)).toBe(false);
  expect((await repo.verbatim("agent", "apply", change.run_id)).exit).toBe(0);
  // And where one list cannot be read, no piece goes: nobody knows what it names.
  const third = (await repo.agent(["--verify", "false"], LIGHT(5))).summary;
  await repo.verbatim("agent", "prune");
  writeFileSync(join(records(repo), recordOf(other), "PIECES.json"), "{");
  const { pieces: gone } = JSON.parse((await repo.verbatim("agent", "prune", "--keep", "0", "--json")).stdout) as {
    pieces: number;
  };
  expect([gone, existsSync(join(records(repo), recordOf(third)))]).toEqual([0, false]);
});
