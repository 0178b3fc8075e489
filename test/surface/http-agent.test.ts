// Guards: the runs of agents over HTTP, for the owner: read in pages, judged, applied once, and never widened.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findOperation } from "../../src/app/call.ts";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

const TEXT = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);

function makeRepo(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", `${TEXT.join("\n")}\n`);
  repo.write("oil.txt", "oil");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** Changes both ends of a text, adds a binary and a line that hides something, and ends a file without a line feed. */
const AGENT = [
  "sed -i -e 's/^line 2$/line two/' -e 's/^line 39$/line 39\\nline 39 and a half/' lamp.txt",
  "printf 'oil and\\nmore' > oil.txt",
  "printf 'a\\000b' > picture.bin",
  "printf 'if (a) {\\342\\200\\256 }\\n' > trick.js",
  "echo working hard; echo 'not so well' >&2",
].join("; ");

async function runAgent(repo: AgentRepo, ...flags: string[]) {
  const verify = flags.includes("--no-verify") ? [] : ["--verify", "test -f lamp.txt"];
  const { summary } = await repo.agent([...verify, ...flags], ["sh", "-c", AGENT]);
  return summary;
}

describe("a run, read over HTTP", () => {
  it("is listed in pages, shown with its evidence, and its change read line by line", async () => {
    const repo = makeRepo();
    const { run_id } = await runAgent(repo);
    const other = await runAgent(repo, "--goal", "trim the wick");
    const server = await serveRepo(repo);

    const first = await server.call("agent.list", { limit: 1 });
    expect([first.total, first.runs.map((run) => run.run_id), first.working]).toEqual([2, [other.run_id], []]);
    const second = await server.call("agent.list", { limit: 1, after: first.next! });
    expect([second.runs.map((run) => run.run_id), second.next]).toEqual([[run_id], null]);
    const found = await server.call("agent.list", { q: "WICK", outcome: "verified", since: "2020-01-01T00:00:00Z" });
    expect(found.runs.map((run) => run.run_id)).toEqual([other.run_id]);
    expect((await server.call("agent.list", { since: "2999-01-01T00:00:00Z" })).total).toBe(0);

    const shown = await server.call("agent.show", { run: run_id });
    expect(shown.diff).toBeNull();
    expect(shown.attempts).toMatchObject([{ n: 1, argv: ["sh", "-c", AGENT], network: "inherit" }]);
    expect(shown.attempts[0]!.env).toContain("HOME");
    expect(shown.candidates).toMatchObject([{ c: 1, kind: "capture", current: true, gate: { verdict: "accept" } }]);
    expect(shown.verifications).toMatchObject([{ v: 1, candidate: 1, result: "PASS", base: expect.any(String) }]);
    expect(shown.verifications[0]!.commands.find(({ cmd }) => cmd === "test -f lamp.txt")).toMatchObject({
      exit_code: 0,
    });
    expect(shown.timeline.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["AGENT_STARTED", "AGENT_CAPTURED", "AGENT_GATED", "AGENT_VERIFIED"]),
    );

    // Every piece of evidence with a file can be fetched, and its bytes have the hash that is said.
    const withFile = shown.evidence.filter(({ file }) => file !== null);
    expect(withFile.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["attempt", "candidate", "patch", "gate", "verification", "verify_output", "proof"]),
    );
    for (const { file, sha256 } of withFile) {
      const response = await server.send(`/api/runs/${run_id}/files/${file}`);
      expect([file, response.status, response.headers.get("content-type")]).toEqual([
        file,
        200,
        "application/octet-stream",
      ]);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const hash = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
      if (sha256 !== null) expect([file, hash]).toEqual([file, sha256]);
    }
    // Whatever an entry is named for says the hash of the file in its body.
    const gate = shown.evidence.find(({ what }) => what === "gate")!;
    const { entries } = await server.call("ledger.show", { from: gate.entry!, limit: 1 });
    expect(entries[0]).toMatchObject({ kind: "AGENT_GATED", body: { gate_sha256: gate.sha256 } });
    const roots = shown.evidence.filter(({ what }) => what.startsWith("tree_root")).map(({ value }) => value);
    expect(roots).toEqual([shown.summary.proof!.tree_root_before, shown.summary.proof!.tree_root_before]);
  });

  it("has a change that can be read page by page, and the lines between", async () => {
    const repo = makeRepo();
    const { run_id: run } = await runAgent(repo);
    const server = await serveRepo(repo);
    const whole = await server.call("agent.diff", { run });
    expect(whole.next).toBeNull();
    expect(whole.files.map(({ path, operation, kind }) => [path, operation, kind])).toEqual([
      ["lamp.txt", "modify", "text"],
      ["oil.txt", "modify", "text"],
      ["picture.bin", "create", "binary"],
      ["trick.js", "create", "text"],
    ]);
    const [lamp, oil, picture, trick] = whole.files as [(typeof whole.files)[0], ...typeof whole.files];
    expect(lamp.hunks.map(({ id, old_start }) => [/^h_[0-9a-f]{12}$/.test(id), old_start])).toEqual([
      [true, 1],
      [true, 37],
    ]);
    expect(lamp.hunks[0]!.lines.slice(0, 3)).toEqual([
      { kind: "context", text: "line 1", no_eol: false },
      { kind: "deleted", text: "line 2", no_eol: false },
      { kind: "added", text: "line two", no_eol: false },
    ]);
    expect(oil!.hunks[0]!.lines.map(({ kind, no_eol }) => [kind, no_eol])).toEqual([
      ["deleted", true],
      ["added", false],
      ["added", true],
    ]);
    expect([picture!.hunks, picture!.bytes]).toEqual([[], 3]);
    expect(trick!.findings).toEqual([{ code: "HIDES_CHARACTERS", says: "hides characters", line: 1 }]);

    // Page by page the same lines come, wherever a page ends.
    for (const limit of [1, 3, 7]) {
      const lines: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await server.call("agent.diff", { run, limit, ...(after === undefined ? {} : { after }) });
        for (const file of page.files) {
          if (file.kind !== "text") lines.push(`${file.path} ${file.kind}`);
          for (const { id, lines: part } of file.hunks)
            lines.push(...part.map(({ text }) => `${file.path} ${id} ${text}`));
        }
        if (page.next === null) break;
        after = page.next;
      }
      const expected = whole.files.flatMap((file) =>
        file.kind === "text"
          ? file.hunks.flatMap(({ id, lines: part }) => part.map(({ text }) => `${file.path} ${id} ${text}`))
          : [`${file.path} ${file.kind}`],
      );
      expect(lines).toEqual(expected);
    }

    const between = await server.call("agent.file-lines", { run, path: "lamp.txt", from: 6, to: 8 });
    expect([between.total, between.lines.map(({ text }) => text)]).toEqual([40, ["line 6", "line 7", "line 8"]]);
    const result = await server.call("agent.file-lines", { run, path: "lamp.txt", side: "result", from: 2, to: 2 });
    expect([result.total, result.lines[0]!.text]).toEqual([41, "line two"]);
    const many = await server.call("agent.file-lines", { run, path: "lamp.txt", from: 1, to: 100_000 });
    expect(many.lines.length).toBe(40);
    for (const path of ["picture.bin", "../outside.txt", "/etc/passwd", ".git/config", "none.txt"]) {
      const [status, code] = await server.refusal("agent.file-lines", { run, path, from: 1, to: 2 });
      expect([path, status, code]).toEqual([path, expect.any(Number), "SELECTION_INVALID"]);
    }
    expect((await server.refusal("agent.diff", { run, candidate: 9 }))[1]).toBe("SELECTION_INVALID");
    expect((await server.refusal("agent.diff", { run, after: "nowhere" })).slice(1)).toEqual([
      "INPUT_INVALID",
      "/after",
    ]);
  });

  it("gives what was printed as bytes, and only the files of the record", async () => {
    const repo = makeRepo();
    const { run_id, run_dir } = await runAgent(repo);
    const server = await serveRepo(repo);
    const output = await server.send(`/api/runs/${run_id}/output?of=output&from=8`);
    const header = (name: string) => output.headers.get(`Verbatim-${name}`);
    expect([header("First"), header("Next"), header("Ended")]).toEqual(["8", "13", "true"]);
    expect(await output.text()).toBe("hard\n");
    expect(output.headers.get("content-disposition")).toBe("attachment");
    const errors = await server.send(`/api/runs/${run_id}/output?of=errors&n=1&wait=1`);
    expect(await errors.text()).toBe("not so well\n");
    const beyond = await server.send(`/api/runs/${run_id}/output?from=5000`);
    expect([beyond.headers.get("Verbatim-First"), await beyond.text()]).toEqual(["13", ""]);
    expect((await server.send(`/api/runs/${run_id}/output?of=secrets`)).status).toBe(400);
    expect((await server.send(`/api/runs/${run_id}/output?wait=21`)).status).toBe(400);
    expect((await server.send("/api/runs/nobody/output")).status).toBe(404);

    // What only our own process needs, what an agent left at home, what leads elsewhere.
    mkdirSync(join(run_dir, "agent/attempts/01/home"), { recursive: true });
    mkdirSync(join(run_dir, "agent/layer"), { recursive: true });
    for (const path of ["agent/supervisor.json", "agent/attempts/01/home/login.json", "agent/layer/lamp.txt"]) {
      writeFileSync(join(run_dir, path), "secret");
    }
    symlinkSync("/etc/passwd", join(run_dir, "artifacts/passwd"));
    symlinkSync("/etc", join(run_dir, "logs/etc"));
    const closed = [
      "agent/supervisor.json",
      "agent/attempts/01/home/login.json",
      "agent/layer/lamp.txt",
      "artifacts/passwd",
      "logs/etc/passwd",
      "..%2F..%2Fstore.db",
      "artifacts%2F..%2Fagent%2Fsupervisor.json",
      "artifacts/%2E%2E/agent/supervisor.json",
      "%2Fetc%2Fpasswd",
      "artifacts%5C..%5Cagent%5Csupervisor.json",
      "agent/candidates/01/%00gate.json",
      "proof/01/JOBSPEC.json",
      "proof/01/STDOUT.log",
      "proof/09/PROOF.json",
      "agent",
      "artifacts/",
    ];
    for (const path of closed) {
      const response = await server.send(`/api/runs/${run_id}/files/${path}`);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).not.toContain("secret");
    }
    const open = await server.send(`/api/runs/${run_id}/files/agent%2Fcandidates%2F01%2Fdiff.patch`);
    expect([open.status, open.headers.get("content-disposition")]).toEqual([200, 'attachment; filename="diff.patch"']);
    expect(await open.text()).toBe(readFileSync(join(run_dir, "agent/candidates/01/diff.patch"), "utf8"));
  });
});

/** Fields that would let a browser do more than a run was started with. */
const VERIFYING = {
  verify: ["true"],
  verify_sh: ["true"],
  no_verify: true,
  setup: ["true"],
  no_setup: true,
  no_baseline: true,
  permit: ["lamp.txt"],
  max_files: 9999,
  max_added_lines: 9999,
  max_binary: "1GiB",
  network: "inherit",
  host: ["lamp.example"],
  memory: "64GB",
  processes: 9999,
  disk: "1TB",
  unmask: [".env"],
  show_secrets: true,
};

const WIDENING: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "agent.verify": { ...VERIFYING, here: true },
  "agent.continue": {
    ...VERIFYING,
    guard: "audit",
    timeout: "99h",
    keep: ["~/.ssh"],
    leave_out: ["lamp.txt"],
    hash_all: true,
    profile: "none",
    env: ["LAMP=lit"],
    see: ["/tmp/lamp"],
    env_all: true,
    fix: 10,
    max_usd: "900",
    name: "lamp",
    detach: true,
  },
  "agent.apply": {
    unverified: true,
    no_reverify: true,
    here: true,
    yes: true,
    commit: true,
    branch: "lit",
    message: "lit",
  },
  "agent.undo": { here: true },
  "agent.list": { all: true },
  "agent.show": { diff: true, hunks: true, network: true },
};

describe("what widens a run", () => {
  const cases = Object.entries(WIDENING).flatMap(([operation, fields]) =>
    Object.entries(fields).map(([field, value]) => [operation, field, value] as const),
  );

  it("is named here field by field, as each operation names it", async () => {
    for (const [operation, fields] of Object.entries(WIDENING)) {
      const found = (await findOperation(operation))!.operation;
      expect([...found.localFields!].sort()).toEqual(Object.keys(fields).sort());
      expect(Object.keys((found.input as unknown as { shape: object }).shape)).toEqual(
        expect.arrayContaining(Object.keys(fields)),
      );
    }
  });

  it("is refused over HTTP before anything happens, as a call and as a task", async () => {
    const repo = makeRepo();
    const { run_id: run, run_dir } = await runAgent(repo);
    const server = await serveRepo(repo);
    const before = readFileSync(join(run_dir, "agent/run.json"), "utf8");
    for (const [operation, field, value] of cases) {
      const input = { ...(operation === "agent.list" ? {} : { run }), [field]: value };
      expect([operation, ...(await server.refusal(operation, input))]).toEqual([
        operation,
        403,
        "LOCAL_ONLY",
        `/${field}`,
      ]);
      const task = await server.post("/api/tasks", { operation, input, key: `${operation}/${field}` });
      expect([operation, field, task.status]).toEqual([operation, field, 403]);
      // Even a value that asks for nothing: whoever sends the field means to.
      const empty = { ...input, [field]: Array.isArray(value) ? [] : false };
      expect((await server.refusal(operation, empty))[1]).toBe("LOCAL_ONLY");
    }
    // A run directory is a path of this machine; starting a run, with or without apply auto, is not offered.
    for (const operation of [
      "agent.show",
      "agent.apply",
      "agent.discard",
      "agent.undo",
      "agent.verify",
      "agent.diff",
    ]) {
      expect((await server.refusal(operation, { run: run_dir }))[1]).toBe("RUN_NOT_FOUND");
    }
    const start = { goal: "x", command: ["true"], apply: "auto", no_verify: true };
    expect((await server.refusal("agent.run", start)).slice(0, 2)).toEqual([404, "OPERATION_UNKNOWN"]);
    expect(readFileSync(join(run_dir, "agent/run.json"), "utf8")).toBe(before);
    expect(repo.git("status", "--short")).toBe("");
  });
});

describe("a decision over HTTP", () => {
  it("plans, lands once however often it is asked for, and is taken back", async () => {
    const repo = makeRepo();
    const { run_id: run } = await runAgent(repo);
    const server = await serveRepo(repo);
    repo.write("lamp.txt", `${TEXT.map((line, i) => (i === 20 ? "mine" : line)).join("\n")}\n`);
    const plan = await server.call("agent.apply", { run, dry_run: true });
    expect([plan.outcome, plan.landing!.moved]).toEqual(["verified", true]);
    expect(plan.landing!.files.map(({ path, how }) => [path, how])).toContainEqual(["lamp.txt", "merged"]);
    expect(repo.git("status", "--short")).toBe(" M lamp.txt\n");

    const [one, again, other] = await Promise.all([
      server.task("agent.apply", { run }, "k1"),
      server.task("agent.apply", { run }, "k1"),
      server.task("agent.apply", { run }, "k2"),
    ]);
    expect([one.state, one.output]).toEqual(["done", expect.objectContaining({ outcome: "applied" })]);
    expect(again).toEqual(one);
    // Another request may come too late or while the first is at work; the change is in the tree once.
    expect([other.state, other.error?.code ?? "applied"]).toEqual(
      other.state === "done" ? ["done", "applied"] : ["failed", "RUN_AT_WORK"],
    );
    const landings = (await server.call("agent.show", { run })).timeline.filter(({ kind }) => kind === "AGENT_LANDED");
    expect(landings.length).toBe(1);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toContain("line two\n");
    expect((await server.call("agent.undo", { run })).outcome).toBe("undone");
    expect(repo.git("status", "--short")).toBe(" M lamp.txt\n");
  });

  it("verifies with the commands of the run, refuses a conflict, and throws away", async () => {
    const repo = makeRepo();
    const { run_id: run } = await runAgent(repo);
    const server = await serveRepo(repo);
    const verified = await server.task("agent.verify", { run }, "v1");
    expect(verified).toMatchObject({ state: "done", output: { outcome: "verified" } });
    expect((await server.call("agent.show", { run })).verifications.length).toBe(2);
    repo.write("lamp.txt", `${TEXT.map((line, i) => (i === 1 ? "mine" : line)).join("\n")}\n`);
    const conflict = await server.task("agent.apply", { run }, "a1");
    expect([conflict.state, conflict.error?.code]).toEqual(["failed", "LAND_CONFLICT"]);
    expect((await server.call("agent.discard", { run })).outcome).toBe("discarded");
    expect((await server.refusal("agent.discard", { run }))[1]).toBe("RUN_ENDED");
    expect((await server.refusal("agent.apply", { run }))[1]).toBe("RUN_ENDED");
  });
});
