import { createConnection } from "node:net";
import { errnoCode } from "../../core/errors/system.ts";
import { encodeBytes, encodeFrame, encodeJson, FRAME, type Frame, FrameReader, readObject } from "./control-frames.ts";
import type { Size } from "./control-server.ts";

/** What a run says to somebody who watches it. */
export interface ControlListener {
  onBytes?(bytes: Uint8Array): void;
  onState?(state: Readonly<Record<string, unknown>>): void;
  /** Once, at the very end: how the run ended, or null where the socket just closed. */
  onEnd?(end: Readonly<Record<string, unknown>> | null): void;
}

export interface Hello {
  readonly token: string;
  readonly read_only: boolean;
  /** False: without what was printed before. */
  readonly bytes?: boolean;
  readonly size?: Size;
}

/** A connection to the control socket of a run. */
export interface ControlLine {
  type(bytes: Uint8Array): void;
  resize(size: Size): void;
  signal(name: string): void;
  close(): void;
}

const CONNECT_MS = 5000;

/** Null: nobody listens there, or nobody who knows the token. */
export async function joinControl(place: string, hello: Hello, listener: ControlListener): Promise<ControlLine | null> {
  const socket = createConnection(place);
  const frames = new FrameReader();
  let end: Readonly<Record<string, unknown>> | null = null;
  let joined: (isJoined: boolean) => void = () => undefined;
  const answer = new Promise<boolean>((resolve) => {
    joined = resolve;
  });
  const timer = setTimeout(() => socket.destroy(), CONNECT_MS);
  socket.on("error", (thrown) => {
    // Whatever went wrong, the connection is over, and that is told below.
    end ??= errnoCode(thrown) === undefined ? { outcome: "lost" } : null;
  });
  socket.on("close", () => {
    clearTimeout(timer);
    joined(false);
    listener.onEnd?.(end);
  });
  const hear = (frame: Frame): void => {
    if (frame.type === FRAME.bytes) listener.onBytes?.(frame.payload);
    else if (frame.type === FRAME.end) end = readObject(frame);
    else if (frame.type === FRAME.state) {
      clearTimeout(timer);
      joined(true);
      listener.onState?.(readObject(frame) ?? {});
    }
  };
  socket.on("data", (bytes) => {
    const found = frames.add(bytes);
    if (found === null) socket.destroy();
    else for (const frame of found) hear(frame);
  });
  const { size, ...said } = hello;
  socket.write(encodeJson(FRAME.hello, { ...said, ...size }));
  if (!(await answer)) return null;
  return {
    type: (bytes) => void socket.write(encodeBytes(bytes)),
    resize: (wanted) => void socket.write(encodeJson(FRAME.size, wanted)),
    signal: (name) => void socket.write(encodeFrame(FRAME.signal, Buffer.from(name))),
    close: () => void socket.end(),
  };
}
