import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { joinControl } from "./control-client.ts";
import { encodeBytes, encodeFrame, encodeJson, FRAME, FrameReader } from "./control-frames.ts";
import { listControlFolders, placeControlSocket } from "./control-place.ts";
import { type ControlHandlers, ControlServer } from "./control-server.ts";

const TOKEN = "a".repeat(64);

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "v-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(handlers: Partial<ControlHandlers> = {}) {
  const place = join(makeFolder(), "s");
  const none = () => undefined;
  const server = await ControlServer.listen(place, TOKEN, {
    state: () => ({ phase: "working" }),
    onInput: none,
    onSize: none,
    onSignal: none,
    ...handlers,
  });
  onTestFinished(() => server.close(null));
  return { place, server };
}

function connect(place: string): { readonly socket: Socket; readonly closed: Promise<void> } {
  const socket = createConnection(place);
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
}

describe("frames of a control socket", () => {
  it("are the same however the stream was cut", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300_000 }),
        fc.array(fc.integer({ min: 1, max: 70_000 })),
        (bytes, cuts) => {
          const all = encodeBytes(bytes);
          const reader = new FrameReader();
          const found: Buffer[] = [];
          for (let at = 0, i = 0; at < all.length; i++) {
            const size = cuts[i % Math.max(1, cuts.length)] ?? all.length;
            for (const { payload } of reader.add(all.subarray(at, at + size)) ?? []) found.push(payload);
            at += size;
          }
          expect(Buffer.compare(Buffer.concat(found), Buffer.from(bytes))).toBe(0);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("a control socket", () => {
  it("is for its user alone, and is gone when the run is", async () => {
    const { place, server } = await open();
    expect(statSync(place).mode & 0o777).toBe(0o600);
    server.close({ outcome: "verified" });
    expect(statSync(place, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("lets nobody in without its token, and tells them nothing", async () => {
    const onSignal = vi.fn<ControlHandlers["onSignal"]>();
    const { place, server } = await open({ onSignal });
    server.output(Buffer.from("what the agent said"));
    const hostile = [
      encodeJson(FRAME.hello, { token: "b".repeat(64) }),
      encodeJson(FRAME.hello, { token: [TOKEN] }),
      encodeJson(FRAME.hello, {}),
      encodeFrame(FRAME.hello, Buffer.from("{")),
      encodeFrame(FRAME.signal, Buffer.from("KILL")),
      Buffer.from([FRAME.hello, 0xff, 0xff, 0xff, 0xff]),
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    ];
    for (const bytes of hostile) {
      const { socket, closed } = connect(place);
      let heard = 0;
      socket.on("data", (data) => {
        heard += data.length;
      });
      socket.write(Buffer.concat([bytes, encodeFrame(FRAME.signal, Buffer.from("KILL"))]));
      await closed;
      expect(heard).toBe(0);
    }
    expect(onSignal).not.toHaveBeenCalled();
    expect(await joinControl(place, { token: "no", read_only: true }, {})).toBeNull();
  });

  it("takes nothing from those who only watch", async () => {
    const onInput = vi.fn<ControlHandlers["onInput"]>();
    const onSignal = vi.fn<ControlHandlers["onSignal"]>();
    const { place } = await open({ onInput, onSignal });
    const watcher = await joinControl(place, { token: TOKEN, read_only: true }, {});
    watcher!.type(Buffer.from("x"));
    watcher!.signal("KILL");
    const writer = await joinControl(place, { token: TOKEN, read_only: false }, {});
    writer!.signal("STOP");
    await vi.waitFor(() => expect(onSignal.mock.calls).toEqual([["STOP"]]));
    expect(onInput).not.toHaveBeenCalled();
  });

  it("drops who does not read, while others hear everything and nobody waits", async () => {
    const { place, server } = await open();
    const slow = connect(place);
    slow.socket.write(encodeJson(FRAME.hello, { token: TOKEN, read_only: true }));
    slow.socket.pause();
    let heard = 0;
    const quick = await joinControl(
      place,
      { token: TOKEN, read_only: true },
      {
        onBytes: (bytes) => {
          heard += bytes.length;
        },
      },
    );
    const line = Buffer.alloc(64 * 1024, "x");
    for (let i = 1; i <= 64; i++) {
      server.output(line);
      await vi.waitFor(() => expect(heard).toBe(i * line.length));
    }
    slow.socket.resume();
    await slow.closed;
    quick!.close();
  });

  it("gives who joins the last 256 KiB, and says how the run ended", async () => {
    const { place, server } = await open();
    server.output(Buffer.alloc(300 * 1024, "a"));
    server.output(Buffer.from("b"));
    let text = "";
    const ended = new Promise((resolve) => {
      void joinControl(
        place,
        { token: TOKEN, read_only: true },
        {
          onBytes: (bytes) => {
            text += Buffer.from(bytes).toString();
          },
          onEnd: resolve,
        },
      );
    });
    await vi.waitFor(() => expect(text.length).toBe(256 * 1024));
    expect(text.endsWith("ab")).toBe(true);
    server.close({ outcome: "verified" });
    expect(await ended).toEqual({ outcome: "verified" });
  });
});

describe("the place of a control socket", () => {
  const uid = process.getuid?.() ?? 0;

  it("is in the first private folder whose path a socket may have", () => {
    const base = makeFolder();
    const state = join(base, "state");
    const at = (env: Record<string, string>, folder: string) => placeControlSocket({ env, state: folder, uid }, "/r/1");
    expect(at({ XDG_RUNTIME_DIR: base }, state)).toMatch(new RegExp(`^${base}/verbatim/[0-9a-f]{16}$`));
    expect(at({}, state)).toMatch(new RegExp(`^${state}/s/[0-9a-f]{16}$`));
    expect(at({ XDG_RUNTIME_DIR: "relative" }, state)).toContain(`${state}/s/`);
    expect(at({}, join(base, "x".repeat(120)))).toContain(`/tmp/verbatim-${uid}/`);
  });

  it("is never a folder that others own, may enter, or that is a link", () => {
    const base = makeFolder();
    for (const name of ["open", "linked"]) mkdirSync(join(base, name));
    mkdirSync(join(base, "open/verbatim"), { mode: 0o755 });
    symlinkSync(makeFolder(), join(base, "linked/verbatim"));
    for (const name of ["open", "linked"]) {
      const surroundings = { env: { XDG_RUNTIME_DIR: join(base, name) }, state: join(base, "state"), uid };
      expect(listControlFolders(surroundings)[0]).toBe(join(base, name, "verbatim"));
      expect(placeControlSocket(surroundings, "/r/1")).toContain(join(base, "state/s"));
    }
    expect(placeControlSocket({ env: {}, state: join(base, "state"), uid: uid + 1 }, "/r/1")).toBeNull();
  });
});
