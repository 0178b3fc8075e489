// What a command finds in its view instead of what the tree has: written through the layer or into the copy, never outside.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { runInView, type TreeWrite } from "../../src/rooms/catalytic/index.ts";
import { openCatalytic, recordTree } from "../support/catalytic-repo.ts";
import { diskFolder } from "../support/memory-folder.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function makeTree() {
  const base = realpathSync(mkdtempSync(join(diskFolder(), "verbatim-writes-")));
  const root = join(base, "repo");
  mkdirSync(join(root, "src/old"), { recursive: true });
  mkdirSync(join(base, "outside"));
  for (const [path, text] of [
    ["src/a.txt", "one\n"],
    ["src/b.txt", "two\n"],
    ["src/old/c.txt", "three\n"],
    ["plain", "a file\n"],
  ] as const)
    writeFileSync(join(root, path), text);
  // Whoever follows it writes outside of the tree.
  symlinkSync(join(base, "outside"), join(root, "way"));
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...who, "commit", "-qm", "first"],
  ])
    execFileSync("git", args, { cwd: root, stdio: "pipe" });
  const room = openCatalytic(base, root);
  onTestFinished(async () => {
    await room.close();
    await runDisk.discard(base);
  });
  return { base, root, room };
}

describe.each(["ns-overlay", "ns-bind", "landlock", "audit"] as const)("a view under %s", (guard) => {
  it("shows what was written before it began, tells of it as changes, and reaches nothing outside", async (context) => {
    const { base, root, room } = makeTree();
    const answer = (await room.ports.guards.probe(false))[guard];
    if (answer !== "ok" && guard !== "audit") return context.skip(`${guard}: ${answer ?? "not here"}`);
    const content = await room.ports.content();
    const put = (text: string) => content.put(encode(text));
    const writes: TreeWrite[] = [
      { path: "src/old/c.txt", mode: null },
      { path: "src/b.txt", mode: null },
      { path: "plain/inner.txt", mode: "100644", sha256: await put("inner\n") },
      { path: "src/a.txt", mode: "100644", sha256: await put("uno\n") },
      { path: "src/b.txt/deep.txt", mode: "100644", sha256: await put("deep\n") },
      { path: "src/new: 1/run.sh", mode: "100755", sha256: await put("#!/bin/sh\necho ran\n") },
      { path: "way/in.txt", mode: "100644", sha256: await put("in\n") },
      { path: "zz", mode: "120000", target: "src/a.txt" },
    ];
    const before = recordTree(root, (path) => path.startsWith(".verbatim"));
    const script = [
      'test "$(cat src/a.txt zz plain/inner.txt src/b.txt/deep.txt way/in.txt)" = "$(printf "uno\\nuno\\ninner\\ndeep\\nin")"',
      'test "$("src/new: 1/run.sh")" = ran',
      "test ! -e src/old && test ! -L way",
      "echo more >> src/a.txt",
      "echo three > again; mkdir src/old; mv again src/old/c.txt",
    ].join(" && ");
    const { run, changes } = await runInView(room.ports, {
      ...room.places,
      command: ["sh", "-c", script],
      intent: "Look at what was written",
      guard,
      writes,
    });
    expect([run.exit_code, run.condition]).toEqual([0, "RESTORED_IDENTICAL"]);
    expect(recordTree(root, (path) => path.startsWith(".verbatim"))).toEqual(before);
    expect(readdirSync(join(base, "outside"))).toEqual([]);
    const files = [...changes.added].filter(([, { type }]) => type !== "dir").map(([path]) => path);
    // What was written and is there as the tree has it is no change.
    expect(files).toEqual(["plain/inner.txt", "src/b.txt/deep.txt", "src/new: 1/run.sh", "way/in.txt", "zz"]);
    expect([...changes.changed.keys()].filter((path) => path !== "plain" && path !== "way")).toEqual([
      "src/a.txt",
      "src/b.txt",
    ]);
    expect(existsSync(join(root, "src/a.txt"))).toBe(true);
    expect(new TextDecoder().decode(await content.get(hashOf(changes.changed.get("src/a.txt")!.after)))).toBe(
      "uno\nmore\n",
    );
  });
});

function hashOf(entry: object): string {
  return (entry as { sha256: string }).sha256;
}
