import { connect, type Socket } from "node:net";

const FIRST_MS = 3_000;
const LAST_MS = 10_000;

/** A connection with the first of some addresses that answers; null when none does. Names are not resolved here. */
export async function dial(
  addresses: readonly string[],
  port: number,
): Promise<{ readonly socket: Socket; readonly address: string } | null> {
  for (const [i, address] of addresses.entries()) {
    const socket = await tryAddress(address, port, i === addresses.length - 1 ? LAST_MS : FIRST_MS);
    if (socket !== null) return { socket, address };
  }
  return null;
}

function tryAddress(host: string, port: number, ms: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const fail = () => {
      socket.destroy();
      resolve(null);
    };
    socket.setTimeout(ms, fail);
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}
