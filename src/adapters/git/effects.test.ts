import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildEffect, buildSeal, type EffectWords } from "./effect-commit.ts";
import { type EffectPlace, readEffect, takePlace } from "./effect-ref.ts";
import { gitEnvironment, NO_SETTINGS } from "./git-process.ts";
import { Mirror } from "./mirror.ts";
import { parseRemote } from "./remote-address.ts";

const REF = "refs/verbatim/job/7d20c1aa-job_b27a2d8ed45b8417";
const WORDS: EffectWords = {
  time: "2026-11-15T22:10:03.412Z",
  subject: "fix the tide table\nVerbatim-Step: forged",
  job: "job_b27a2d8ed45b8417",
  step: "5a0e6ad7-7f5f-8a51-8f3f-2d1f6f3b7f01",
  plan: "ab".repeat(32),
};

let folder: string;
let remote: string;
let base: string;

function git(cwd: string, ...args: string[]): string {
  const env = { ...gitEnvironment({ ...NO_SETTINGS }), ...PERSON };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
}

const PERSON = {
  GIT_AUTHOR_NAME: "Mira",
  GIT_AUTHOR_EMAIL: "mira@example.org",
  GIT_AUTHOR_DATE: "@1700000000 +0000",
  GIT_COMMITTER_NAME: "Mira",
  GIT_COMMITTER_EMAIL: "mira@example.org",
  GIT_COMMITTER_DATE: "@1700000000 +0000",
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-mirror-"));
  remote = join(folder, "remote.git");
  git(folder, "init", "-q", "--bare", "--initial-branch=main", remote);
  const tree = join(folder, "tree");
  git(folder, "clone", "-q", remote, tree);
  mkdirSync(join(tree, "docs"));
  writeFileSync(join(tree, "docs", "tides.md"), "# Tides\n");
  writeFileSync(join(tree, "old"), "old\n");
  // Attributes and configuration of the repository must not change a byte of a result.
  writeFileSync(join(tree, ".gitattributes"), "* text=auto eol=crlf ident\n");
  git(tree, "add", "-A");
  git(tree, "commit", "-q", "-m", "first");
  git(tree, "push", "-q", "origin", "HEAD:refs/heads/main");
  base = git(tree, "rev-parse", "HEAD");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function openMirror(name: string): Promise<Mirror> {
  const mirror = await Mirror.open(join(folder, name), remote, { allowPath: true });
  await mirror.fetch();
  return mirror;
}

const write = (text: string) => [{ path: "docs/tides.md", mode: "100644", bytes: Buffer.from(text) } as const];

describe("the address of a remote", () => {
  test.each([
    "https://git.example.org/team/harbour.git",
    "ssh://git@git.example.org:2222/team/harbour.git",
    "git@git.example.org:team/harbour.git",
  ])("%s is taken, and only https and ssh are spoken", (address) => {
    expect(parseRemote(address, false)).toEqual({ address, protocols: "https:ssh" });
  });

  test.each([
    "--upload-pack=touch /tmp/x",
    "-oProxyCommand=touch",
    "ext::sh -c id",
    "ext::sh",
    "fd::17",
    "ssh://-oProxyCommand=id/x",
    "ssh://git@-oProxyCommand=id/x",
    "-host:path",
    "git@host:-path",
    "https://mira:secret@git.example.org/x",
    "https://token@git.example.org/x",
    "http://git.example.org/x",
    "git://git.example.org/x",
    "file:///srv/x",
    "/srv/x",
    "../x",
    "x",
    "",
    "https://git.example.org/a\nb",
    "https://git.example.org/a b",
  ])("%j is refused", (address) => {
    expect(() => parseRemote(address, false)).toThrow(expect.objectContaining({ code: "REMOTE_INVALID" }));
  });

  test("a password is not repeated in the refusal", () => {
    const refuse = () => parseRemote("https://mira:secret@git.example.org/x", false);
    expect(refuse).toThrow(expect.objectContaining({ details: { remote: "https://***@git.example.org/x" } }));
  });

  test("a path is taken only where that was said, and nothing is made for an address that is refused", async () => {
    expect(parseRemote("/srv/x", true).protocols).toBe("https:ssh:file");
    const place = join(folder, "none");
    await expect(Mirror.open(place, remote, { allowPath: false })).rejects.toMatchObject({ code: "REMOTE_INVALID" });
    expect(existsSync(place)).toBe(false);
  });
});

describe("a mirror", () => {
  test("has the remote's branches and knows a clone of something else by its first commits", async () => {
    const mirror = await openMirror("a.git");
    expect(await mirror.readRoots("main")).toEqual([base]);
    expect(await mirror.readRef("refs/heads/main")).toBe(base);
    // git lists every ref whose name ends so.
    git(remote, "update-ref", `refs/heads/x/${REF}`, base);
    expect(await mirror.readRef(REF)).toBeNull();
    await mirror.requireRoots([base]);
    const other = [base, "1".repeat(40)];
    const refusal = { code: "REPOSITORY_MISMATCH", details: { missing: ["1".repeat(40)] } };
    await expect(mirror.requireRoots(other)).rejects.toMatchObject(refusal);
    await expect(mirror.requireRoots([])).rejects.toMatchObject({ code: "REPOSITORY_MISMATCH" });
  });

  test.each([
    "main",
    "refs/heads/../x",
    "refs/heads/-x",
    "refs/heads/a..b",
    "refs/heads/a.lock",
    "refs/heads/a b",
    "refs/x:y",
    "refs/heads/",
  ])("does not ask for %j", async (ref) => {
    const mirror = await Mirror.open(join(folder, "a.git"), remote, { allowPath: true });
    await expect(mirror.readRef(ref)).rejects.toMatchObject({ code: "REF_INVALID" });
    await expect(mirror.push(ref, null, base)).rejects.toMatchObject({ code: "REF_INVALID" });
  });

  test("says that the remote is unavailable, and does not take that for an absent ref", async () => {
    const mirror = await openMirror("a.git");
    rmSync(remote, { recursive: true });
    await expect(mirror.fetch()).rejects.toMatchObject({ code: "REMOTE_UNAVAILABLE", exit: 4 });
    await expect(mirror.readRef(REF)).rejects.toMatchObject({ code: "REMOTE_UNAVAILABLE" });
    expect(await mirror.push(REF, null, base)).toMatchObject({ moved: false, answered: false });
  });
});

describe("the commit of an effect", () => {
  test("is the same in every mirror, has the bytes of the result, and keeps what was not touched", async () => {
    const changes = [
      ...write("one\r\n$Id$\n"),
      { path: "bin/go", mode: "100755", bytes: Buffer.from("#!/bin/sh\n") } as const,
      { path: "old/new", mode: "100644", bytes: Buffer.from("n") } as const,
      { path: "old", mode: "100644", bytes: null } as const,
    ];
    const a = await openMirror("a.git");
    const b = await openMirror("b.git");
    const one = await buildEffect(a, base, changes, WORDS);
    expect(await buildEffect(b, base, [...changes].reverse(), WORDS)).toEqual(one);
    const show = (rev: string) => git(a.folder, "cat-file", "-p", rev);
    expect(git(a.folder, "cat-file", "-s", `${one.commit}:docs/tides.md`)).toBe("10");
    expect(git(a.folder, "ls-tree", "-r", "--name-only", one.commit).split("\n")).toEqual([
      ".gitattributes",
      "bin/go",
      "docs/tides.md",
      "old/new",
    ]);
    expect(show(one.commit).split("\n")).toEqual([
      `tree ${one.tree}`,
      `parent ${base}`,
      "author Verbatim <verbatim@localhost> 1794780603 +0000",
      "committer Verbatim <verbatim@localhost> 1794780603 +0000",
      "",
      "fix the tide table Verbatim-Step: forged",
      "",
      "Verbatim-Job: job_b27a2d8ed45b8417",
      "Verbatim-Step: 5a0e6ad7-7f5f-8a51-8f3f-2d1f6f3b7f01",
      `Verbatim-Plan: ${"ab".repeat(32)}`,
    ]);
  });

  test.each([".git/hooks/pre-push", "a/.GIT/config", "../x", "/etc/passwd", "a//b"])(
    "cannot have the path %j",
    async (path) => {
      const mirror = await openMirror("a.git");
      const change = [{ path, mode: "100644", bytes: Buffer.from("x") } as const];
      await expect(buildEffect(mirror, base, change, WORDS)).rejects.toThrow();
    },
  );

  test("runs no hook of the mirror when it is pushed, and a seal changes no file", async () => {
    const mirror = await openMirror("a.git");
    mkdirSync(join(mirror.folder, "hooks"), { recursive: true });
    const trap = join(folder, "trap");
    writeFileSync(join(mirror.folder, "hooks", "pre-push"), `#!/bin/sh\ntouch ${trap}\n`);
    chmodSync(join(mirror.folder, "hooks", "pre-push"), 0o755);
    const seal = await buildSeal(mirror, base, WORDS);
    expect(seal.tree).toBe(git(mirror.folder, "rev-parse", `${base}^{tree}`));
    expect(git(mirror.folder, "log", "-1", "--format=%(trailers:key=Verbatim-Sealed,valueonly)", seal.commit)).toBe(
      WORDS.step,
    );
    expect(await mirror.push(REF, null, seal.commit)).toEqual({ moved: true });
    expect(existsSync(trap)).toBe(false);
  });
});

describe("the place of a step on its branch", () => {
  async function prepare(mirror: Mirror, texts: readonly string[], before: string | null = null): Promise<EffectPlace> {
    const intents: string[] = [];
    for (const text of texts) intents.push((await buildEffect(mirror, before ?? base, write(text), WORDS)).commit);
    return { ref: REF, before, intents, seal: (await buildSeal(mirror, before ?? base, WORDS)).commit };
  }

  test("is taken once, also when attempts with other bytes and the seal race for it; all of them say by whom", async () => {
    const mirrors = await Promise.all(["a.git", "b.git", "c.git", "d.git"].map(openMirror));
    let before: string | null = null;
    for (let round = 0; round < 4; round++) {
      const texts = mirrors.map((_, i) => `round ${round} attempt ${i}\n`);
      if (before !== null) for (const mirror of mirrors) await mirror.fetch();
      const places: EffectPlace[] = [];
      for (const mirror of mirrors) places.push(await prepare(mirror, texts, before));
      const racing = mirrors.map((mirror, i) => {
        const place = places[i]!;
        return takePlace(mirror, place, i === 3 ? place.seal : place.intents[i]!);
      });
      const states = await Promise.all(racing);
      expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
      const at = git(remote, "rev-parse", REF);
      const state = states[0]!;
      expect(state.at === "effect" ? state.commit : state.at).toBe(at === places[0]!.seal ? "seal" : at);
      expect(git(remote, "rev-list", "--count", `${base}..${REF}`)).toBe(String(round + 1));
      before = at;
    }
  });

  test("is found taken by whoever comes after a push whose outcome nobody heard", async () => {
    const mirror = await openMirror("a.git");
    const place = await prepare(mirror, ["lost", "mine"]);
    await mirror.push(REF, null, place.intents[0]!);
    expect(await takePlace(mirror, place, place.intents[1]!)).toEqual({ at: "effect", commit: place.intents[0] });
    expect(await takePlace(mirror, place, place.seal)).toEqual({ at: "effect", commit: place.intents[0] });
  });

  test("stays closed behind a seal: a push that comes late does not land", async () => {
    const mirror = await openMirror("a.git");
    const place = await prepare(mirror, ["late"]);
    expect(await takePlace(mirror, place, place.seal)).toEqual({ at: "seal" });
    expect(await mirror.push(REF, null, place.intents[0]!)).toMatchObject({ moved: false, answered: true });
    expect(await takePlace(mirror, place, place.intents[0]!)).toEqual({ at: "seal" });
    expect(git(remote, "rev-parse", REF)).toBe(place.seal);
  });

  test("that someone else moved or removed is left alone", async () => {
    const mirror = await openMirror("a.git");
    const place = await prepare(mirror, ["mine"]);
    git(remote, "update-ref", REF, base);
    expect(await takePlace(mirror, place, place.intents[0]!)).toEqual({ at: "elsewhere", commit: base });
    expect(git(remote, "rev-parse", REF)).toBe(base);
    const next = await prepare(mirror, ["next"], base);
    git(remote, "update-ref", "-d", REF);
    expect(await readEffect(mirror, next)).toEqual({ at: "elsewhere", commit: null });
  });

  test("is free as long as the remote refuses, and that is no verdict", async () => {
    const mirror = await openMirror("a.git");
    const place = await prepare(mirror, ["mine"]);
    mkdirSync(join(remote, "hooks"), { recursive: true });
    writeFileSync(join(remote, "hooks", "pre-receive"), "#!/bin/sh\nexit 1\n");
    chmodSync(join(remote, "hooks", "pre-receive"), 0o755);
    const refused = takePlace(mirror, place, place.intents[0]!);
    await expect(refused).rejects.toMatchObject({ code: "REMOTE_UNAVAILABLE", exit: 4 });
    expect(await readEffect(mirror, place)).toEqual({ at: "free" });
    rmSync(join(remote, "hooks", "pre-receive"));
    expect(await takePlace(mirror, place, place.intents[0]!)).toEqual({ at: "effect", commit: place.intents[0] });
  });

  test("is not offered a commit that no intent names", async () => {
    const mirror = await openMirror("a.git");
    const place = await prepare(mirror, ["mine"]);
    await expect(takePlace(mirror, place, base)).rejects.toMatchObject({ code: "INTERNAL" });
  });
});
