import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createIo, type Io, type Streams } from "./io.ts";

const FLAGS = { json: false, quiet: false, debug: false, full: false, progress: false };

/** What a verb writes, to a terminal or a pipe. */
async function write(env: NodeJS.ProcessEnv, isTTY: boolean, say: (io: Io) => void | Promise<void>): Promise<string> {
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const io = createIo({ stdin: process.stdin, stdout, stderr } as unknown as Streams, env, FLAGS);
  await say(io);
  await io.flush();
  return `${String(stdout.read() ?? "")}${String(stderr.read() ?? "")}`;
}

const DAMAGES: readonly (readonly [string, (io: Io) => void | Promise<void>])[] = [
  ["printed as a result", (io) => io.out(`${io.paint.good("ok")}\n`)],
  ["printed as bytes", (io) => io.out(new TextEncoder().encode(`${io.paint.good("ok")}\n`))],
  ["printed as a line", (io) => io.line(io.paint.good("ok"))],
  ["printed as a note", (io) => io.note(io.paint.good("ok"))],
  ["cleaned as if it were foreign", (io) => io.line(io.paint.good("ok").replace(/[\x00-\x1f]/g, "\ufffd"))],
  ["cut in its mark", (io) => io.line(`ok${io.paint.good("x").slice(0, 19).replace("x", "")}`)],
];

describe("a painted text", () => {
  it.each(DAMAGES)("%s shows colours or none, and never how they are marked", async (_, say) => {
    for (const isTTY of [true, false]) {
      for (const env of [{ TERM: "xterm" }, { NO_COLOR: "1" }, { FORCE_COLOR: "1" }]) {
        const text = await write(env, isTTY, say);
        expect(text.replace(/\u001b\[\d+m/g, "")).toMatch(/^ok\n?$/);
      }
    }
  });

  it("is coloured on a terminal that wants colours, also as a result, and plain in a pipe", async () => {
    const say = (io: Io) => io.out(`${io.paint.bad("no")}\n`);
    expect(await write({ TERM: "xterm" }, true, say)).toBe("\u001b[31mno\u001b[39m\n");
    expect(await write({ TERM: "xterm" }, false, say)).toBe("no\n");
  });

  it("leaves a foreign text no way to paint", async () => {
    const foreign = "\u001b[31mred\u0000\n";
    expect(await write({ TERM: "xterm" }, true, (io) => io.out(`${io.paint.good("ok")}${foreign}`))).toBe(
      "\u001b[32mok\u001b[39m\ufffd[31mred\ufffd\n",
    );
    expect(await write({ TERM: "xterm" }, false, (io) => io.out(foreign))).toBe(foreign);
  });
});
