import { spawn, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { findTool } from "../guards/tools.ts";
import { hideFromPerl, LastWords } from "./last-words.ts";

/** The mark as the wrapped command would write it, and the answer it waits for. */
function partsOf(words: LastWords): { readonly mark: string; readonly answer: string } {
  const [, , , mark, answer] = words.wrap("perl", ["true"]) as [string, string, string, string, string];
  return { mark: `\0${mark}\0`, answer };
}

describe("the last words of a command", () => {
  it("pass as they are, without the mark, wherever it is cut in two, and are answered once", () => {
    const said = "first\0\0second";
    const words = new LastWords();
    const { mark } = partsOf(words);
    const whole = `${said}${mark}after${mark}`;
    for (let cut = 0; cut <= whole.length; cut++) {
      const one = new LastWords();
      const own = whole.replaceAll(mark, partsOf(one).mark);
      const answers: string[] = [];
      const heard = [own.slice(0, cut), own.slice(cut)].map((part) =>
        one.hear(Buffer.from(part), (answer) => answers.push(answer)).toString(),
      );
      expect(heard.join("")).toBe(`${said}after${partsOf(one).mark}`);
      expect(answers).toEqual([`${partsOf(one).answer}\n`]);
    }
  });

  it("are not held back longer than they may be a mark, and come out at the end", () => {
    const words = new LastWords();
    const { mark } = partsOf(words);
    const never = () => expect.unreachable();
    expect(words.hear(Buffer.from(`x${mark.slice(0, 5)}`), never).toString()).toBe("x");
    expect(words.hear(Buffer.from("!"), never).toString()).toBe(`${mark.slice(0, 5)}!`);
    expect(words.hear(Buffer.from(mark.slice(0, 3)), never).toString()).toBe("");
    expect(words.rest().toString()).toBe(mark.slice(0, 3));
  });

  it.each([
    ["its exit code", "exit 7", 7, null],
    ["success", "exit 0", 0, null],
    ["the signal it died of", "kill -KILL $$", null, "SIGKILL"],
    ["an interrupt", "kill -INT $$", null, "SIGINT"],
  ])("leave %s as it was", (_, script, status, signal) => {
    const perl = findTool("perl")!;
    const words = new LastWords();
    const [file, ...args] = words.wrap(perl, ["sh", "-c", `echo said; ${script}`]) as [string, ...string[]];
    const ended = spawnSync(file, args, { input: `${partsOf(words).answer}\n`, encoding: "utf8" });
    expect([ended.status, ended.signal]).toEqual([status, signal]);
    expect(words.hear(Buffer.from(ended.stdout), () => undefined).toString()).toBe("said\n");
  });

  it.each([
    ["TERM", "a group of its own", 'setpgrp(0, 0); $SIG{TERM} = sub { print "heard\\n"; exit 3 };'],
    ["HUP", "the group of its leader", '$SIG{HUP} = sub { print "heard\\n"; exit 3 };'],
  ] as const)("do not keep SIG%s from a command in %s", async (signal, _, set) => {
    const perl = findTool("perl")!;
    const words = new LastWords();
    const [file, ...args] = words.wrap(perl, [perl, "-e", `$| = 1; ${set} print "ready\\n"; sleep 60`]) as [
      string,
      ...string[],
    ];
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => {
      said += words.hear(bytes, (answer) => child.stdin.write(answer)).toString();
      if (said === "ready\n") child.kill(`SIG${signal}`);
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([said, code]).toEqual(["ready\nheard\n", 3]);
  });

  it("come from a command with its own environment, whatever perl would make of it", () => {
    const perl = findTool("perl")!;
    const words = new LastWords();
    const env = hideFromPerl({ PATH: process.env["PATH"] ?? "", LC_ALL: "xx_YY.none", PERL5OPT: "-MNoSuchModule" });
    const script = 'echo "$PERL5OPT $LC_ALL"; env | grep -c -e ^PERL_BADLANG -e ^VERBATIM_KEPT';
    const [file, ...args] = words.wrap(perl, ["sh", "-c", script]) as [string, ...string[]];
    const ended = spawnSync(file, args, { input: `${partsOf(words).answer}\n`, encoding: "utf8", env });
    expect([words.hear(Buffer.from(ended.stdout), () => undefined).toString(), ended.stderr]).toEqual([
      "-MNoSuchModule xx_YY.none\n0\n",
      "",
    ]);
  });
});
