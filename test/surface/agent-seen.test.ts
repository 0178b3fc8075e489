// Guards: an agent has a temporary folder of its own, and sees of the real one what somebody named, read-only.
import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";

it.each(["ns-overlay", "ns-bind"])(
  "sees files of its command and what --see names, and cannot write them, under %s",
  async (guard) => {
    const repo = makeAgentRepo();
    repo.write("lamp.txt", "off\n");
    repo.git("add", ".");
    repo.git("commit", "-qm", "first");
    const folder = mkdtempSync("/tmp/verbatim-see-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "shared"));
    for (const name of ["prompt.txt", "options.json", "other.txt", "shared/note.txt"])
      writeFileSync(join(folder, name), name);
    mkdirSync(join(repo.base, "home/.ssh"));
    writeFileSync(join(repo.base, "home/.ssh/id"), "a private key");
    symlinkSync(join(repo.base, "home/.ssh/id"), join(folder, "link"));
    const script = [
      `cd ${folder}; ls -R > "$OLDPWD/seen.txt"; cat prompt.txt options.json shared/note.txt >> "$OLDPWD/seen.txt"`,
      "echo x >> prompt.txt; echo x > shared/new; echo x > mine && rm mine && echo own >> $OLDPWD/seen.txt",
    ].join("\n");
    const words = [join(folder, "prompt.txt"), `--options=${join(folder, "options.json")}`, join(folder, "link")];
    const flags = ["--no-verify", "--guard", guard, "--see", join(folder, "shared")];
    const { summary } = await repo.agent(flags, ["sh", "-c", script, ...words]);
    const patch = readFileSync(join(summary.run_dir, "artifacts/diff.patch"), "utf8");
    const seen = [...patch.matchAll(/^\+([^+\n].*)$/gm)].map((match) => match[1]);
    expect(seen).toEqual([
      ".:",
      "options.json",
      "prompt.txt",
      "shared",
      "./shared:",
      "note.txt",
      "prompt.txtoptions.jsonshared/note.txtown",
    ]);
    const attempt = JSON.parse(readFileSync(join(summary.run_dir, "agent/attempts/01/attempt.json"), "utf8"));
    expect(attempt.seen).toEqual(["options.json", "prompt.txt", "shared"].map((name) => join(folder, name)));
    expect(readFileSync(join(folder, "prompt.txt"), "utf8")).toBe("prompt.txt");
    for (const [place, words] of [
      [join(folder, "link"), "is not below /tmp or /var/tmp"],
      [join(repo.base, "home"), "is not below /tmp or /var/tmp"],
      [join(folder, "nowhere"), "does not exist"],
    ] as const) {
      const refused = await repo.verbatim("agent", "--goal", "x", "--no-verify", "--see", place, "--", "true");
      expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining(words) as string]);
    }
  },
);

const SECRET = "tr0ub4dor-behind-the-lamp";

/** A repository whose git folder and a part of whose objects lie elsewhere, and a folder to see. */
function makeScattered() {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const folder = mkdtempSync("/tmp/verbatim-see-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "deep/.env"), `LAMP_KEY=${SECRET}\n`);
  writeFileSync(join(folder, "note.txt"), "no secret\n");
  linkSync(join(folder, "deep/.env"), join(folder, "deep/twin.txt"));
  linkSync(join(folder, "deep/.env"), join(repo.root, "plain.txt"));
  writeFileSync(join(repo.base, "home/.netrc"), SECRET);
  linkSync(join(repo.base, "home/.netrc"), join(repo.root, "lights.txt"));
  repo.write(".git/info/exclude", "plain.txt\nlights.txt\nseen.txt\n");
  writeFileSync(join(repo.root, ".git/credentials.json"), SECRET);
  // A branch that is called like a secret stays one.
  repo.git("branch", "lamp.key");
  // Only the objects of the others know the commit.
  execFileSync("mv", [join(repo.root, ".git/objects"), join(folder, "objects")]);
  mkdirSync(join(repo.root, ".git/objects/info"), { recursive: true });
  writeFileSync(join(repo.root, ".git/objects/info/alternates"), `${join(folder, "objects")}\n`);
  const main = join(repo.base, "main");
  renameSync(repo.root, main);
  execFileSync("git", ["-C", main, "worktree", "add", "-q", "-b", "side", repo.root]);
  for (const name of ["plain.txt", "lights.txt"]) renameSync(join(main, name), join(repo.root, name));
  const places = ["deep/.env", "deep/twin.txt", "note.txt"].map((name) => join(folder, name));
  const git = [join(main, ".git/credentials.json"), join(main, ".git/refs/heads/lamp.key")];
  const all = [...places, "plain.txt", "lights.txt", ...git];
  const look = all.map((place) => `cat ${place} 2>/dev/null | wc -c`).join("; ");
  return { ...repo, folder, main, script: `{ ${look}; git log --format=%s; } > out.txt` };
}

it.each(["ns-overlay", "ns-bind"])(
  "finds secrets in what --see names and in git folders elsewhere as empty as those of its repository, under %s",
  async (guard) => {
    const repo = makeScattered();
    const flags = ["--guard", guard, "--see", repo.folder, "--no-verify"];
    const { summary, result } = await repo.agent(flags, ["sh", "-c", repo.script]);
    const seen = readFileSync(join(summary.run_dir, "artifacts/diff.patch"), "utf8").match(/(?<=^\+)[0-9f].*$/gm);
    expect(seen).toEqual(["0", "0", "10", "0", "0", "0", "41", "first"]);
    const at = result.stderr.replaceAll(/\s+/g, " ");
    expect(at).toContain("secret places hidden from the agent");
    const { masks } = JSON.parse(readFileSync(join(summary.run_dir, "agent/attempts/01/attempt.json"), "utf8"));
    expect(masks).toEqual(
      [
        join(repo.main, ".git/credentials.json"),
        ...["deep/.env", "deep/twin.txt"].map((name) => join(repo.folder, name)),
        "lights.txt",
        "plain.txt",
        "~/.netrc",
      ].sort(),
    );
    const shown = await repo.agent([...flags, "--unmask", join(repo.folder, "deep/.env")], ["sh", "-c", repo.script]);
    const patch = readFileSync(join(shown.summary.run_dir, "artifacts/diff.patch"), "utf8");
    expect(patch.match(/(?<=^\+)[0-9].*$/m)?.[0]).toBe("35");
  },
);

it("is told what of it can be read under a guard that cannot hide files", async () => {
  const repo = makeScattered();
  const flags = ["--guard", "landlock", "--see", repo.folder, "--no-verify", "--json"];
  const result = await repo.verbatim(
    "agent",
    "--goal",
    "x",
    ...flags,
    "--",
    "sh",
    "-c",
    `cat ${repo.folder}/deep/.env`,
  );
  expect(result.stderr).toContain("! SECRETS_NOT_HIDDEN: the guard landlock cannot hide files, so the agent can read");
  const summary = JSON.parse(result.stdout) as { readonly run_dir: string };
  const { not_hidden } = JSON.parse(readFileSync(join(summary.run_dir, "agent/attempts/01/attempt.json"), "utf8"));
  expect(not_hidden).toContain(join(repo.folder, "deep/.env"));
  expect((await repo.verbatim("agent", "logs", "@")).stdout).toContain("LAMP_KEY=[redacted:LAMP_KEY]");
});
