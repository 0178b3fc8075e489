// Guards: what is exported of a run says exactly which lines the agent wrote, in the words of the public format, and repeats
// no prompt, no secret and nothing of a hidden file.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";

const KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

interface Trace {
  version: string;
  id: string;
  timestamp: string;
  vcs: { type: string; revision: string };
  tool: { name: string; version: string };
  files: {
    path: string;
    conversations: {
      contributor: { type: string; model_id?: string };
      ranges: { start_line: number; end_line: number; content_hash?: string }[];
    }[];
  }[];
  metadata: { verbatim: Record<string, unknown> };
}

function makeRepo(): AgentRepo {
  const repo = makeAgentRepo();
  repo.git("config", "user.name", "Mira");
  repo.git("config", "user.email", "mira@example.org");
  repo.write("lamp.txt", Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`).join(""));
  repo.write("oil.txt", "oil\nwick\n");
  repo.write("ring.sh", "#!/bin/sh\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

async function trace(repo: AgentRepo, ...more: string[]): Promise<Trace> {
  const { exit, stdout, stderr } = await repo.verbatim("agent", "export", "@", ...more);
  expect([exit, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Trace;
}

/** Lines that git itself says a commit wrote. */
function blamed(repo: AgentRepo, commit: string, path: string): number[] {
  const lines = repo.git("blame", "--line-porcelain", commit, "--", path).split("\n");
  return lines.flatMap((line) => {
    const found = /^([0-9a-f]{40}) [0-9]+ ([0-9]+)/.exec(line);
    return found?.[1] === commit ? [Number(found[2])] : [];
  });
}

const linesOf = (traced: Trace, path: string) =>
  traced.files
    .find((file) => file.path === path)!
    .conversations.flatMap(({ ranges }) =>
      ranges.flatMap(({ start_line, end_line }) =>
        Array.from({ length: end_line - start_line + 1 }, (_, i) => start_line + i),
      ),
    );

/** Hashes of the lines of a text, taken by another program than ours. */
function hashesOf(text: string, ranges: readonly { start_line: number; end_line: number }[]): string[] {
  const lines = text.split(/(?<=\n)/);
  return ranges.map(({ start_line, end_line }) => {
    const part = lines.slice(start_line - 1, end_line).join("");
    return `sha256:${createHash("sha256").update(part).digest("hex")}`;
  });
}

/** The program of a known agent, which leaves a session behind. */
function makeClaude(repo: AgentRepo, session: readonly object[], script: string): string {
  const bin = join(repo.base, "bin");
  mkdirSync(bin, { recursive: true });
  const lines = session.map((line) => JSON.stringify(line));
  writeFileSync(join(repo.root, ".git/said.jsonl"), lines.map((line) => `${line}\n`).join(""));
  const place = '"$HOME/.claude/projects/boat"';
  const keep = `mkdir -p ${place}; cp .git/said.jsonl ${place}/1.jsonl`;
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n${keep}\n${script}\n`);
  chmodSync(join(bin, "claude"), 0o755);
  return join(bin, "claude");
}

const answer = (id: string, model: string, content: object[] = []) => ({
  type: "assistant",
  sessionId: "s-1",
  requestId: id,
  timestamp: "2026-11-01T10:00:00Z",
  message: { model, content, usage: { input_tokens: 10, output_tokens: 5 } },
});

it("says of a commit exactly the lines that git says the commit wrote, with their hashes and nothing that was asked", async () => {
  const repo = makeRepo();
  const script = [
    "sed -i -e '3s/.*/three/' -e '20a\\\none\\\ntwo' -e '30,31d' lamp.txt",
    "printf 'new\\nfile without an end' > made.txt",
    "rm oil.txt",
    "chmod +x ring.sh",
    "printf 'a\\0b' > flame.bin",
  ].join("\n");
  const claude = makeClaude(repo, [answer("r-1", "claude-sonnet-5")], script);
  const goal = `light the lamp with ${KEY}`;
  await repo.agent(["--goal", goal, "--no-verify", "--guard", "ns-overlay"], [claude, "-p", "please"]);
  const before = await trace(repo);
  const base = repo.git("rev-parse", "HEAD").trim();
  expect([before.vcs, before.metadata["verbatim"]["lines_of"]]).toEqual([{ type: "git", revision: base }, "candidate"]);
  expect((await repo.verbatim("agent", "apply", "@", "--commit", "-m", "lit")).exit).toBe(0);
  const commit = repo.git("rev-parse", "HEAD").trim();
  const traced = await trace(repo);
  expect(traced).toMatchObject({
    version: "0.1.0",
    vcs: { type: "git", revision: commit },
    tool: { name: "Verbatim", version: "0.1.0" },
  });
  expect(traced.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(traced.id).not.toBe(before.id);
  expect(traced.files.map(({ path }) => path)).toEqual(["lamp.txt", "made.txt"]);
  for (const { path, conversations } of traced.files) {
    expect(linesOf(traced, path)).toEqual(blamed(repo, commit, path));
    const [{ contributor, ranges }] = conversations as [Trace["files"][number]["conversations"][number]];
    expect(contributor).toEqual({ type: "ai", model_id: "anthropic/claude-sonnet-5" });
    expect(ranges.map(({ content_hash }) => content_hash)).toEqual(
      hashesOf(repo.git("show", `${commit}:${path}`), ranges),
    );
  }
  expect(traced.metadata["verbatim"]["other_files"]).toEqual([
    { path: "flame.bin", operation: "create", kind: "binary" },
    { path: "oil.txt", operation: "delete", kind: "text" },
    { path: "ring.sh", operation: "modify", kind: "mode" },
  ]);
  expect(JSON.stringify(traced)).not.toMatch(/light the lamp|please|sk-ant/);
  // The same lines, the same bytes.
  const [one, other] = [await repo.verbatim("agent", "export", "@"), await repo.verbatim("agent", "export", "@")];
  expect(one.stdout).toBe(other.stdout);
  const told = await trace(repo, "--content");
  const { goal: said, argv } = told.metadata["verbatim"]["content"] as { goal: string; argv: string[] };
  expect([said, argv.slice(1)]).toEqual([
    expect.stringMatching(/^light the lamp with \[redacted:[^\]]+\]$/),
    ["-p", "please"],
  ]);
});

it("calls lines mixed where the file was merged, by their places in the tree it was merged into", async () => {
  const repo = makeRepo();
  const add = "sed -i '20a\\\none\\\ntwo' lamp.txt; echo own > own.txt";
  await repo.agent(["--verify", "true"], ["sh", "-c", add]);
  const lamp = readFileSync(join(repo.root, "lamp.txt"), "utf8");
  writeFileSync(join(repo.root, "lamp.txt"), `a new first line\n${lamp}`);
  expect((await repo.verbatim("agent", "apply", "@")).exit).toBe(0);
  const traced = await trace(repo);
  const text = readFileSync(join(repo.root, "lamp.txt"), "utf8");
  const own = traced.files.map(({ path, conversations }) => [path, conversations[0]!.contributor]);
  expect(own).toEqual([
    ["lamp.txt", { type: "mixed" }],
    ["own.txt", { type: "ai" }],
  ]);
  expect(linesOf(traced, "lamp.txt").map((line) => text.split("\n")[line - 1])).toEqual(["one", "two"]);
  expect(traced.metadata["verbatim"]).toMatchObject({ lines_of: "tree", state: "applied", verification: "PASS" });
});

it("gives no hash of lines that hold a secret, or of a file that agents may not see", async () => {
  const repo = makeRepo();
  const script = `echo 'PIN=4711' > .env; echo 'key = "${KEY}"' > keys.txt; echo plain > plain.txt`;
  await repo.agent(["--no-verify", "--permit", ".env", "--permit", "keys.txt"], ["sh", "-c", script]);
  const traced = await trace(repo);
  const hashes = traced.files.map(({ path, conversations }) => [path, conversations[0]!.ranges[0]!.content_hash]);
  expect(hashes).toEqual([
    [".env", undefined],
    ["keys.txt", undefined],
    ["plain.txt", hashesOf("plain\n", [{ start_line: 1, end_line: 1 }])[0]],
  ]);
});

it("names no model where there were several, and sessions only of attempts whose work is in the change", async () => {
  const repo = makeRepo();
  const first = makeClaude(repo, [answer("r-1", "claude-sonnet-5")], "echo one > one.txt");
  await repo.agent(["--no-verify", "--guard", "ns-overlay"], [first]);
  const second = makeClaude(
    repo,
    [answer("r-2", "claude-opus-5"), answer("r-3", "claude-haiku-5")],
    "echo 2 > two.txt",
  );
  expect((await repo.verbatim("agent", "continue", "@", "--from", "base", "--", second)).exit).toBe(0);
  const anew = await trace(repo);
  expect(anew.files.map(({ path }) => path)).toEqual(["two.txt"]);
  expect(anew.files[0]!.conversations[0]!.contributor).toEqual({ type: "ai" });
  expect(anew.metadata["verbatim"]["models"]).toEqual([
    { model: "claude-haiku-5", output: 5 },
    { model: "claude-opus-5", output: 5 },
  ]);
  expect((anew.metadata["verbatim"]["sessions"] as { attempt: number }[]).map(({ attempt }) => attempt)).toEqual([2]);
  const third = makeClaude(repo, [answer("r-4", "claude-opus-5")], "echo 3 > three.txt");
  expect((await repo.verbatim("agent", "continue", "@", "--", third)).exit).toBe(0);
  const onTop = await trace(repo);
  expect(onTop.files.map(({ path }) => path)).toEqual(["three.txt", "two.txt"]);
  expect((onTop.metadata["verbatim"]["sessions"] as { attempt: number }[]).map(({ attempt }) => attempt)).toEqual([
    2, 3,
  ]);
});

it("tells a session in one form for every agent, its texts and arguments only when they are asked for", async () => {
  const repo = makeRepo();
  // In the file its line ends are escaped, so nothing that reads it as bytes recognizes the key.
  const pem =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAabcdefghijklmnopqrstuvwxyz012345\n-----END PRIVATE KEY-----";
  const session = [
    { type: "user", sessionId: "s-1", message: { content: `mend the lamp\n${pem}` } },
    answer("r-1", "claude-sonnet-5", [
      { type: "text", text: "I will." },
      { type: "tool_use", name: "Bash", input: { command: "ls harbour" } },
    ]),
  ];
  const claude = makeClaude(repo, session, `printf '\\033[31mred ${KEY}\\033[0m\\n'; echo on > lamp.txt`);
  await repo.agent(["--no-verify", "--guard", "ns-overlay"], [claude, "-p", "quickly"]);
  const bare = await repo.verbatim("agent", "export", "@", "--format", "transcript");
  expect(bare.stdout).not.toMatch(/mend|I will|harbour|quickly|PRIVATE|red/);
  const shape = JSON.parse(bare.stdout) as { attempts: { sessions: { entries: object[] }[] }[] };
  const facts = { at: "2026-11-01T10:00:00Z", model: "claude-sonnet-5" };
  expect(shape.attempts[0]!.sessions[0]!.entries).toEqual([
    { at: null, from: "user", kind: "text", model: null, tool: null, bytes: expect.any(Number) as number },
    { ...facts, from: "agent", kind: "text", tool: null, bytes: 7 },
    { ...facts, from: "agent", kind: "tool_call", tool: "Bash", bytes: 24 },
  ]);
  const out = join(repo.base, "transcript.json");
  const told = await repo.verbatim("agent", "export", "@", "--format", "transcript", "--content", "--out", out);
  expect([told.exit, told.stdout]).toEqual([0, `written ${out}, transcript\n`]);
  const text = readFileSync(out, "utf8");
  const full = JSON.parse(text) as {
    goal: string;
    attempts: { argv: string[]; output: { text: string }; sessions: { entries: { text: string }[] }[] }[];
  };
  const [attempt] = full.attempts;
  expect(full.goal).toBe("mend the lamp");
  expect(attempt!.argv.slice(1)).toEqual(["-p", "quickly"]);
  expect(attempt!.sessions[0]!.entries.map((entry) => entry.text)).toEqual([
    expect.stringMatching(/^mend the lamp\n\[redacted:[^\]]+\]$/),
    "I will.",
    '{"command":"ls harbour"}',
  ]);
  expect(attempt!.output.text).toMatch(/^red \[redacted:[^\]]+\]\n/);
  expect(text).not.toMatch(/abcdefghijklmnopqrstuvwxyz/);
});

it("refuses what cannot be exported, and writes over nothing", async () => {
  const repo = makeRepo();
  const refused = async (code: string, exit: number, ...args: string[]) => {
    const result = await repo.verbatim("agent", "export", ...args);
    expect([result.exit, result.stdout, result.stderr]).toEqual([exit, "", expect.stringContaining(`error[${code}]`)]);
  };
  await repo.agent(["--no-verify"], ["true"]);
  await refused("EXPORT_EMPTY", 1, "@");
  await repo.agent(["--no-verify"], ["sh", "-c", "echo on > lamp.txt; echo said"]);
  const there = join(repo.base, "there.json");
  writeFileSync(there, "mine");
  await refused("FILE_EXISTS", 2, "@", "--out", there);
  expect(readFileSync(there, "utf8")).toBe("mine");
  await refused("RUN_NOT_FOUND", 2, "20990101-000000-000000");
  await refused("USAGE", 2, "@", "--format", "otel");
  // What was thrown away and pruned has neither lines nor sessions; its record says so.
  expect((await repo.verbatim("agent", "discard", "@")).exit).toBe(0);
  expect((await trace(repo)).metadata["verbatim"]["state"]).toBe("discarded");
  expect((await repo.verbatim("agent", "prune", "--older-than", "0d")).exit).toBe(0);
  await refused("EXPORT_EMPTY", 1, "@");
  await refused("EXPORT_EMPTY", 1, "@", "--format", "transcript");
  expect(existsSync(join(repo.root, "trace.json"))).toBe(false);
});
