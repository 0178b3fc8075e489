import type { Socket } from "node:net";
import { LONGEST_HELLO, readTlsHello } from "../../core/network/tls-hello.ts";

/** The next bytes of a socket, or null at its end, when it broke, or after so many milliseconds. */
function readSome(socket: Socket, ms: number): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const done = (bytes: Buffer | null) => {
      clearTimeout(timer);
      for (const event of ["end", "close", "error"] as const) socket.off(event, onEnd);
      socket.off("readable", onReadable);
      resolve(bytes);
    };
    const onEnd = () => done(null);
    const onReadable = () => {
      const bytes = socket.read() as Buffer | null;
      if (bytes !== null) done(bytes);
    };
    const timer = setTimeout(onEnd, ms);
    for (const event of ["end", "close", "error"] as const) socket.once(event, onEnd);
    socket.on("readable", onReadable);
    if (socket.readableEnded || socket.destroyed) done(null);
  });
}

/** Reads until `parse` has an answer; `null`: it never came. What was read too much is put back. */
export async function readUntil<T>(
  socket: Socket,
  parse: (bytes: Buffer) => { readonly used: number; readonly value: T } | "more",
  { most, ms }: { readonly most: number; readonly ms: number },
): Promise<T | null> {
  let bytes: Buffer = Buffer.alloc(0);
  const end = performance.now() + ms;
  for (;;) {
    const part = await readSome(socket, Math.max(1, end - performance.now()));
    if (part === null) return null;
    bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part]);
    const found = parse(bytes);
    if (found !== "more") {
      if (found.used < bytes.length) socket.unshift(bytes.subarray(found.used));
      return found.value;
    }
    if (bytes.length >= most || performance.now() >= end) return null;
  }
}

const HELLO_MS = 5_000;

/**
 * The greeting of a TLS client, whole: its server name, null where it has none or is not a greeting, and the bytes, which
 * nobody has seen yet.
 */
export async function readGreeting(
  socket: Socket,
  head: Buffer,
): Promise<{ readonly name: string | null; readonly bytes: Buffer }> {
  let bytes = head;
  const end = performance.now() + HELLO_MS;
  for (;;) {
    const hello = readTlsHello(bytes.subarray(0, LONGEST_HELLO));
    if (hello.kind === "name") return { name: hello.name, bytes };
    if (hello.kind !== "more" || bytes.length >= LONGEST_HELLO) return { name: null, bytes };
    const part = await readSome(socket, Math.max(1, end - performance.now()));
    if (part === null) return { name: null, bytes };
    bytes = Buffer.concat([bytes, part]);
  }
}

/** Sends each side's bytes to the other, each direction to its own end; resolves when both sockets are closed. */
export function join(client: Socket, origin: Socket): Promise<void> {
  for (const [from, to] of [
    [client, origin],
    [origin, client],
  ] as const) {
    // A broken side ends the other one; the record has how many bytes went through.
    from.on("error", () => to.destroy());
    from.on("close", (hadError: boolean) => {
      if (hadError) to.destroy();
    });
    from.pipe(to);
  }
  const closed = (socket: Socket) =>
    socket.destroyed ? Promise.resolve() : new Promise<void>((done) => socket.once("close", () => done()));
  return Promise.all([closed(client), closed(origin)]).then(() => undefined);
}
