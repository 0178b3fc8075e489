// Guards: an agent has a temporary folder of its own, and sees of the real one what somebody named, read-only.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
