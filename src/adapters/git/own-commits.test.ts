import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countOwnCommits } from "./own-commits.ts";

let base: string;
let real: string;
let view: string;

function gitIn(root: string, ...args: string[]): string {
  const who = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org"];
  return execFileSync("git", [...who, ...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function commit(root: string, text: string): void {
  writeFileSync(join(root, "lamp.txt"), `${text}\n`);
  gitIn(root, "add", "-A");
  gitIn(root, "commit", "-qm", text);
}

function start(format = "sha1"): void {
  gitIn(base, "init", "-q", `--object-format=${format}`, "-b", "main", real);
  commit(real, "first");
  gitIn(real, "branch", "someone-elses");
  gitIn(real, "checkout", "-q", "someone-elses");
  commit(real, "on another branch");
  gitIn(real, "checkout", "-q", "main");
}

function copy(): void {
  cpSync(real, view, { recursive: true, verbatimSymlinks: true });
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-commits-")));
  [real, view] = [join(base, "real"), join(base, "view")];
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

describe.each(["sha1", "sha256"])("commits of one's own in a %s repository", (format) => {
  it("are those made since, on any branch; branches that were there, stashes and amended ones do not count", () => {
    start(format);
    copy();
    expect(countOwnCommits(view, real)).toBe(0);
    gitIn(view, "checkout", "-q", "someone-elses");
    expect(countOwnCommits(view, real)).toBe(0);
    commit(view, "mine");
    gitIn(view, "commit", "-q", "--amend", "-m", "mine, better");
    gitIn(view, "checkout", "-q", "main");
    commit(view, "mine too");
    gitIn(view, "merge", "-q", "-X", "ours", "-m", "both", "someone-elses");
    writeFileSync(join(view, "lamp.txt"), "stashed\n");
    gitIn(view, "stash", "-q");
    gitIn(view, "checkout", "-q", "--detach");
    commit(view, "on no branch");
    expect(countOwnCommits(view, real)).toBe(4);
  });

  it("are found in packs, also those that are kept as differences", () => {
    start(format);
    copy();
    const words = "a long message that differs little from one commit to the next, so that git keeps differences. ";
    for (let i = 0; i < 40; i++) gitIn(view, "commit", "-q", "--allow-empty", "-m", `${words.repeat(20)}${i}`);
    gitIn(view, "gc", "-q", "--aggressive", "--prune=now");
    const packed = gitIn(view, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(deltabase)");
    expect(packed).toMatch(/^commit (?!0+$)[0-9a-f]+$/m);
    expect(countOwnCommits(view, real)).toBe(40);
  });
});

describe("commits that came from elsewhere", () => {
  it("do not count when they were fetched, and do when they were pushed", () => {
    start();
    const remote = join(base, "remote");
    gitIn(base, "clone", "-q", "--bare", real, remote);
    const other = join(base, "other");
    gitIn(base, "clone", "-q", remote, other);
    commit(other, "by somebody else");
    gitIn(other, "push", "-q", "origin", "main");
    copy();
    gitIn(view, "remote", "add", "origin", remote);
    gitIn(view, "pull", "-q", "--ff-only", "origin", "main");
    expect(countOwnCommits(view, real)).toBe(0);
    commit(view, "mine");
    gitIn(view, "push", "-q", "origin", "main");
    expect(countOwnCommits(view, real)).toBe(1);
  });

  it("are known through the objects of a linked work tree and of a repository that is borrowed from", () => {
    start();
    const borrowed = join(base, "borrowed");
    gitIn(base, "clone", "-q", "--shared", real, borrowed);
    cpSync(borrowed, view, { recursive: true });
    commit(view, "mine");
    expect(countOwnCommits(view, borrowed)).toBe(1);
    const linked = join(base, "linked");
    gitIn(real, "worktree", "add", "-q", linked, "someone-elses");
    expect(countOwnCommits(linked, linked)).toBe(0);
    expect(countOwnCommits(view, linked)).toBe(1);
  });
});

describe("a repository made to harm whoever counts", () => {
  it("is read without following links and without waiting, and what is damaged is not counted", () => {
    start();
    copy();
    commit(view, "mine");
    const git = join(view, ".git");
    rmSync(join(git, "FETCH_HEAD"), { force: true });
    execFileSync("mkfifo", [join(git, "FETCH_HEAD"), join(git, "packed-refs"), join(git, "refs/heads/pipe")]);
    symlinkSync("/dev/zero", join(git, "refs/heads/endless"));
    symlinkSync(join(real, ".git/refs"), join(git, "refs/tags/link"));
    mkdirSync(join(git, "logs/refs"), { recursive: true });
    symlinkSync("/proc", join(git, "logs/refs/remotes"));
    writeFileSync(join(git, "refs/heads/damaged"), `${"ab".repeat(20)}\n`);
    mkdirSync(join(git, "objects/ab"), { recursive: true });
    writeFileSync(join(git, "objects/ab", "ab".repeat(19)), "no zlib stream");
    writeFileSync(join(git, `objects/pack/pack-${"0".repeat(40)}.idx`), Buffer.alloc(4096, 0xff));
    expect(countOwnCommits(view, real)).toBe(1);
    rmSync(join(git, "HEAD"));
    symlinkSync("/dev/zero", join(git, "HEAD"));
    expect(countOwnCommits(view, real)).toBe(1);
  });

  it("gives up on differences that build on themselves", () => {
    start();
    copy();
    const id = "c".repeat(40);
    const name = join(view, ".git/objects/pack", `pack-${"d".repeat(40)}`);
    // One object: a difference by name whose base is itself.
    const delta = Buffer.from("789c0300000000 01".replace(/ /g, ""), "hex");
    const pack = Buffer.concat([
      Buffer.from("PACK\0\0\0\x02\0\0\0\x01", "latin1"),
      Buffer.from([0x70]),
      Buffer.from(id, "hex"),
      delta,
    ]);
    writeFileSync(`${name}.pack`, Buffer.concat([pack, Buffer.alloc(64)]));
    const fanout = Buffer.alloc(1024);
    for (let i = 0xcc; i < 256; i++) fanout.writeUInt32BE(1, i * 4);
    const index = [
      Buffer.from("ff744f6300000002", "hex"),
      fanout,
      Buffer.from(id, "hex"),
      Buffer.alloc(4),
      Buffer.from("0000000c", "hex"),
    ];
    writeFileSync(`${name}.idx`, Buffer.concat([...index, Buffer.alloc(40)]));
    writeFileSync(join(view, ".git/refs/heads/loop"), `${id}\n`);
    expect(countOwnCommits(view, real)).toBe(0);
  });
});
