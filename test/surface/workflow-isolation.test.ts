// Verification inside one catalytic view: guarded, proved, and never weaker than what was asked for.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { COMMAND, GOOD_PATCH, makeDraft, SampleRepository } from "../support/sample-repository.ts";

const repositories: SampleRepository[] = [];
afterAll(async () => {
  for (const repository of repositories) await repository.remove();
});

interface Report {
  readonly result: string;
  readonly isolation: string;
  readonly catalytic_run_id?: string;
  readonly commands: readonly { readonly cmd: string; readonly exit_code: number; readonly gate: string }[];
  readonly failures: readonly { readonly kind: string; readonly id: string; readonly message: string }[];
}

type Verify = Readonly<Record<string, unknown>>;

function make(verify: Verify, catalytic: object = {}): SampleRepository {
  const repository = new SampleRepository({ verify });
  const config = JSON.parse(repository.read("verbatim.config.json")) as object;
  repository.write("verbatim.config.json", JSON.stringify({ ...config, catalytic }, null, 2));
  repository.commit("configuration");
  repositories.push(repository);
  return repository;
}

/** A run up to the patch, with the patch in place. */
async function prepare(repository: SampleRepository, gates = "lite"): Promise<string> {
  const dir = await repository.plan(
    "run",
    makeDraft({ Gates: `${gates}, plan_check, patch_check, behavior_catalog_check` }),
  );
  await repository.submit("diff.patch", GOOD_PATCH, "run");
  return dir;
}

const readReport = (dir: string) =>
  JSON.parse(readFileSync(join(dir, "artifacts/verify_report.json"), "utf8")) as Report;
const sh = (script: string) => ({ argv: ["sh", "-c", script] });

describe("verification in a catalytic view", () => {
  it("shows the gates what the set-up made, keeps everything from them that is outside, and is proved", async () => {
    const repository = make({
      isolation: "catalytic",
      setup: [sh("mkdir made && echo from-setup > made/tool")],
      share: [{ path: "ignored", how: "link" }],
      env_allow: ["OUT"],
      gates: {
        lite: [sh('cat made/tool ignored/shared; git rev-parse HEAD; echo "$VERBATIM_GATE in $VERBATIM_RUN"')],
        full: [sh('echo x > "$OUT"'), { argv: COMMAND }],
        last: [sh("echo x > ignored/planted")],
      },
    });
    repository.write("ignored/shared", "shared\n");
    repository.env["OUT"] = join(repository.root, "planted.txt");
    const before = repository.manifest();
    const dir = await prepare(repository, "lite, full, last");
    await repository.call("advance", { run: "run" });
    const report = readReport(dir);
    expect(report.isolation).toBe("catalytic");
    expect(report.commands.slice(0, 4).map(({ gate, exit_code }) => `${gate} ${exit_code > 0}`)).toEqual([
      "setup false",
      "lite false",
      "full true",
      "last true",
    ]);
    const out = readFileSync(join(dir, "logs/verify.stdout.log"), "utf8");
    expect(out).toContain(`from-setup\nshared\n${repository.git("rev-parse", "HEAD")}lite in run\n`);
    expect(report.failures.map(({ id }) => id)).toEqual(["full[0]", "last[0]"]);
    expect(report.failures[0]?.message).toContain("Read-only file system");
    expect(repository.manifest()).toEqual(before);
    const proof = join(repository.root, ".verbatim/runs", report.catalytic_run_id ?? "", "PROOF.json");
    expect(JSON.parse(readFileSync(proof, "utf8"))).toMatchObject({
      restoration_result: { verified: true },
      guard: { class: "namespace" },
    });
  });

  it("passes a good candidate, whose evidence may be something a gate made", async () => {
    const repository = make({ isolation: "catalytic", gates: { lite: [sh("echo ok > made.txt"), { argv: COMMAND }] } });
    const dir = await prepare(repository);
    const results =
      "R001: x\nAcceptance: y\nEvidence: made.txt, src/greet.js, artifacts/diff.patch\nRelated-Gates: lite\n";
    await repository.submit("EXPECTED_RESULTS.md", results, "run");
    expect(await repository.call("advance", { run: "run" })).toMatchObject({ status: "pass" });
    expect(readReport(dir)).toMatchObject({ result: "PASS", isolation: "catalytic", failures: [] });
    expect(existsSync(join(repository.root, "made.txt"))).toBe(false);
  });

  it("fails a candidate that kills the runner", async () => {
    const repository = make({ isolation: "catalytic", gates: { lite: [sh("kill -9 $PPID; sleep 5")] } });
    const dir = await prepare(repository);
    expect(await repository.call("advance", { run: "run" })).toMatchObject({ code: "VERIFY_FAILED" });
    expect(readReport(dir).failures).not.toEqual([]);
  });

  it("fails a candidate that says everything in the name of the runner, as the runner would have said it", async (context) => {
    // A pipe of Node is a socket, which /proc does not open; pidfd_getfd takes it as it is.
    const forge = String.raw`use JSON::PP; open(my $c, "<", "/proc/" . getppid() . "/cmdline");
      my @words = split(/\0/, do { local $/; <$c> }); shift @words while $words[0] ne "--"; shift @words;
      my $fd = syscall(438, syscall(434, getppid(), 0), 1, 0); open(my $out, ">&=", $fd) or exit 7; my $j = JSON::PP->new;
      for my $work (@{$j->decode(join "", @words)}) {
        print $out $j->encode({result => {exit_code => 0, ending => "exited", duration_ms => 1}}), "\n" for @{$work->{commands}};
        print $out $j->encode({gate => $work->{gate}, present => [map { JSON::PP::true } @{$work->{looks}}]}), "\n";
      }
      close $out; exit 1;`;
    const repository = make({ isolation: "catalytic", gates: { lite: [{ argv: ["perl", "-e", forge] }] } });
    const before = repository.manifest();
    const dir = await prepare(repository);
    expect(await repository.call("advance", { run: "run" })).toMatchObject({ code: "VERIFY_FAILED" });
    const { commands, failures } = readReport(dir);
    if (commands[0]?.exit_code === 7) context.skip("this kernel gives nobody the descriptors of another process");
    expect(failures.map(({ kind }) => kind)).toEqual(["isolation_violation"]);
    expect(repository.manifest()).toEqual(before);
  });

  it("ends a command at its timeout with everything it started, and goes on with the next gate", async () => {
    const name = `61.${Date.now()}`;
    const repository = make({
      isolation: "catalytic",
      gates: {
        lite: [{ ...sh(`sleep ${name} & sleep ${name}`), timeout_s: 1 }],
        full: [{ argv: ["no-such-program"] }],
      },
    });
    const dir = await prepare(repository, "lite, full");
    await repository.call("advance", { run: "run" });
    const { commands, failures } = readReport(dir);
    expect(commands.slice(0, 2).map(({ exit_code }) => exit_code)).toEqual([124, 127]);
    expect(failures.map(({ kind }) => kind)).toEqual(["command_timeout", "command_not_found"]);
    expect(repository.processes(name)).toEqual([]);
  });
});

describe("the isolation that is asked for", () => {
  it("fails closed when it does not work here, and uses no iteration", async () => {
    const guard = process.platform === "darwin" ? "landlock" : "seatbelt";
    const repository = make({ isolation: "catalytic", gates: { lite: [{ argv: COMMAND }] } }, { guard });
    await prepare(repository);
    await expect(repository.call("advance", { run: "run" })).rejects.toMatchObject({ code: "GUARD_UNAVAILABLE" });
    expect(await repository.call("status", { run: "run" })).toMatchObject({
      code: "CANDIDATE_ACCEPTED",
      iterations: { used: 0 },
    });
  });

  it("is plain processes for auto where no guard confines, and the report says so", async () => {
    const repository = make({ isolation: "auto", gates: { lite: [{ argv: COMMAND }] } }, { guard: "audit" });
    const dir = await prepare(repository);
    expect(await repository.call("advance", { run: "run" })).toMatchObject({ status: "pass" });
    const report = readReport(dir);
    expect(report).toMatchObject({ isolation: "worktree" });
    expect(report).not.toHaveProperty("catalytic_run_id");
  });

  it("does not take evidence that a link leads to outside the copy", async () => {
    const lite = [sh("ln -s /etc/passwd proof.txt")];
    const repository = make({ isolation: "worktree", gates: { lite } });
    const dir = await prepare(repository);
    const results = "R001: x\nAcceptance: y\nEvidence: proof.txt\nRelated-Gates: lite\n";
    await repository.submit("EXPECTED_RESULTS.md", results, "run");
    await repository.call("advance", { run: "run" });
    expect(readReport(dir).failures.map(({ kind }) => kind)).toEqual(["evidence_missing"]);
  });
});
