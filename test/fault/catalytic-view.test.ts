import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { createGuards } from "../../src/adapters/guards/index.ts";
import { readRecord } from "../../src/rooms/catalytic/record/record-files.ts";
import { verifyRun } from "../../src/rooms/catalytic/verify/verify.ts";
import { runInView } from "../../src/rooms/catalytic/view/view.ts";
import { openCatalytic, openWhile, recordTree, type TestRun } from "../support/catalytic-repo.ts";
import { isNamespace, VARIANTS } from "../support/guard-variants.ts";
import { diskFolder } from "../support/memory-folder.ts";

let base: string;
let root: string;
let room: TestRun;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-view-")));
  root = join(base, "repo");
  for (const folder of ["src/old", "node_modules/x", "home"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, "src/a.txt"), "one\n");
  writeFileSync(join(root, "src/b.txt"), "two\n");
  writeFileSync(join(root, "src/old/c.txt"), "three\n");
  writeFileSync(join(root, ".gitignore"), "node_modules/\n");
  writeFileSync(join(root, "node_modules/x/i.js"), "ignored\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      cwd: root,
      stdio: "pipe",
    });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  room = openCatalytic(base, root);
});

afterEach(async () => {
  await room.close();
  await runDisk.discard(base);
});

const AGENT = [
  "set -e",
  "echo more >> src/a.txt",
  "rm src/b.txt",
  "mv src/old src/moved",
  "mkdir src/new; echo fresh > src/new/d.txt; chmod 755 src/new/d.txt",
  "echo changed > node_modules/x/i.js",
  "git -c user.name=Bob -c user.email=bob@example.org add -A",
  "git -c user.name=Bob -c user.email=bob@example.org commit -qm agent",
  "mkfifo src/pipe",
  "echo x 2>/dev/null > .verbatim/planted || true",
  "echo x 2>/dev/null > ../victim || true",
  "echo home > $HOME/.agent-cache 2>/dev/null || true",
  "pwd",
].join("\n");

describe.each(["ns-overlay", "ns-bind", "landlock", "audit"] as const)("a view under %s", (guard) => {
  it("lets an agent change everything, keeps the real tree, and hands the changes out as data", async () => {
    const before = recordTree(root, (path) => path.startsWith(".verbatim"));
    const { run, changes } = await runInView(room.ports, {
      ...room.places,
      command: ["sh", "-c", AGENT],
      intent: "Let an agent work",
      run_id: "view-1",
      guard,
    });
    expect(run.violations).toEqual([]);
    expect(run.condition).toBe("RESTORED_IDENTICAL");
    expect(recordTree(root, (path) => path.startsWith(".verbatim"))).toEqual(before);
    expect(existsSync(join(root, ".verbatim/planted"))).toBe(false);
    expect([...changes.added.keys()]).toEqual(["src/moved", "src/moved/c.txt", "src/new", "src/new/d.txt"]);
    expect([...changes.removed.keys()]).toEqual(["src/b.txt", "src/old", "src/old/c.txt"]);
    expect([...changes.changed.keys()]).toEqual(["src/a.txt"]);
    expect(changes.changed.get("src/a.txt")?.fields).toEqual(["sha256", "size"]);
    expect(changes.added.get("src/new/d.txt")).toMatchObject({ type: "file", mode: "0755", size: 6 });
    expect(changes.refused).toEqual(["src/pipe"]);
    expect(changes.ignored).toBe(1);
    expect(changes.commits).toBe(1);
    const after = changes.changed.get("src/a.txt")?.after;
    const content = await room.ports.content();
    expect(Buffer.from(await content.get(after?.type === "file" ? after.sha256 : "")).toString()).toBe("one\nmore\n");
    const record = join(root, ".verbatim/runs/view-1");
    const listed = JSON.parse(readFileSync(join(record, "VIEW_CHANGES.json"), "utf8")) as object;
    expect(Object.keys(listed)).toEqual([
      "added",
      "changed",
      "commits",
      "concurrent_changes",
      "ignored_count",
      "large",
      "refused",
      "removed",
      "reserved",
    ]);
    const verdict = await verifyRun(
      room.ports.crypto,
      { name: "view-1", files: readRecord(runDisk, record) },
      { pins: [], policy_sha256: null, tree: "skip", strict_tree: false },
    );
    expect(verdict.errors).toEqual([]);
    expect(verdict.accepted).toBe(true);
  });
});

describe("a view under ns-overlay", () => {
  it("takes the hashes of unchanged files from the cache the second time, with the same proof of the tree", async () => {
    const options = { ...room.places, command: ["true"], intent: "Look twice", guard: "ns-overlay" } as const;
    await runInView(room.ports, { ...options, run_id: "view-1" });
    await runInView(room.ports, { ...options, run_id: "view-2" });
    const tree = (run: string) => readFileSync(join(root, `.verbatim/runs/${run}/PRE_TREE.json`), "utf8");
    expect(tree("view-2")).toBe(tree("view-1"));
    const proof = JSON.parse(readFileSync(join(root, ".verbatim/runs/view-2/PROOF.json"), "utf8")) as {
      guard: { tripwire: { stat_only_roots: string[] } };
    };
    expect(proof.guard.tripwire.stat_only_roots).toEqual(["."]);
  });

  it("lists what somebody else changes meanwhile and does not blame the command", async () => {
    const edit = () => writeFileSync(join(root, "src/b.txt"), "edited by a person\n");
    const busy = openWhile(base, root, edit);
    const { run, changes } = await runInView(busy.ports, {
      ...busy.places,
      command: ["sh", "-c", "echo started; cat src/a.txt"],
      intent: "Work while somebody edits",
      run_id: "view-1",
      guard: "ns-overlay",
    });
    await busy.close();
    expect(run.accepted).toBe(true);
    expect(changes.concurrent).toEqual(["src/b.txt"]);
    expect(changes.changed.size).toBe(0);
  });

  it("gives the home folder as a layer that is dropped, except for what is to be kept", async () => {
    const home = room.ports.host.home ?? "";
    const inside = mkdtempSync(join(home, ".verbatim-test-"));
    const kept = mkdtempSync(join(home, ".verbatim-kept-"));
    try {
      const script = `echo x > ${inside}/cache && cat ${inside}/cache && echo y > ${kept}/history`;
      const { run } = await runInView(room.ports, {
        ...room.places,
        command: ["sh", "-c", script],
        intent: "Use the home folder",
        run_id: "view-1",
        guard: "ns-overlay",
        keep: [kept],
      });
      expect(run.accepted).toBe(true);
      expect(existsSync(join(inside, "cache"))).toBe(false);
      expect(readFileSync(join(kept, "history"), "utf8")).toBe("y\n");
    } finally {
      await runDisk.discard(inside);
      await runDisk.discard(kept);
    }
  });
});

describe.each(VARIANTS.filter(isNamespace))("what is hidden from a view under $name", (variant) => {
  // The temporary folder is another one in a view, so what is shown there has to be carried over.
  const artifacts = new URL("../../test-artifacts", import.meta.url).pathname;

  it.for([artifacts, realpathSync(diskFolder())])(
    "cannot be read, and what is shown of it can: %s",
    async (parent, context) => {
      const guards = createGuards(null, base, variant.bind);
      const probes = await guards.probe(true);
      if (probes[variant.guard] !== "ok") context.skip(`${variant.name}: ${probes[variant.guard]}`);
      mkdirSync(parent, { recursive: true });
      const user = realpathSync(mkdtempSync(join(parent, "user-")));
      onTestFinished(() => runDisk.discard(user));
      const [config, state, run] = ["config", "state/verbatim", "state/verbatim/runs/r"].map((path) =>
        join(user, path),
      );
      mkdirSync(room.places.state, { recursive: true });
      for (const folder of [config!, `${run}/hooks`, `${run}/artifacts`]) mkdirSync(folder, { recursive: true });
      writeFileSync(`${config}/key`, "a key");
      writeFileSync(`${run}/RUN.json`, "the run");
      writeFileSync(`${run}/artifacts/PLAN.md`, "the plan");
      writeFileSync(`${run}/artifacts/secret`, "a secret");
      writeFileSync(join(room.places.state, "kept"), "state of the workspace");
      const script = [
        `ls -A ${config}; ls -A ${join(root, ".verbatim/state")}; ls -A ${run} ${run}/artifacts`,
        `cat ${run}/RUN.json ${run}/artifacts/PLAN.md; echo`,
        `echo word > ${run}/hooks/spool && echo spooled`,
        `(echo x > ${config}/planted) 2>/dev/null || echo closed; (echo x > ${run}/RUN.json) 2>/dev/null || echo closed`,
        `grep -rlE 'a key|a secret|state of the workspace' ${user} ${join(root, ".verbatim/state")} 2>/dev/null; echo over; echo x > $TMPDIR/t && cat src/a.txt`,
        "echo more >> src/a.txt; git status --short -- src",
      ].join("\n");
      const { run: ended, changes } = await runInView(
        { ...room.ports, guards: { ...guards, probe: async () => probes } },
        {
          ...room.places,
          command: ["sh", "-c", script],
          intent: "Look around",
          run_id: "view-1",
          guard: variant.guard,
          keep: [`${run}/hooks`],
          hidden: [config!, state!, join(root, ".verbatim/state")],
          shown: [`${run}/RUN.json`, `${run}/artifacts/PLAN.md`],
        },
      );
      const record = join(root, ".verbatim/runs/view-1");
      expect(readFileSync(join(record, "STDERR.log"), "utf8")).toBe("");
      expect(readFileSync(join(record, "STDOUT.log"), "utf8").split("\n")).toEqual([
        `${run}:`,
        "RUN.json",
        "artifacts",
        "hooks",
        "",
        `${run}/artifacts:`,
        "PLAN.md",
        "the runthe plan",
        "spooled",
        "closed",
        "closed",
        "over",
        "one",
        " M src/a.txt",
        "",
      ]);
      expect(ended).toMatchObject({ accepted: true, violations: [] });
      expect([...changes.changed.keys()]).toEqual(["src/a.txt"]);
      expect(readFileSync(`${run}/hooks/spool`, "utf8")).toBe("word\n");
      expect(readFileSync(`${run}/artifacts/secret`, "utf8")).toBe("a secret");
    },
  );
});
