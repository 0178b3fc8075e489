import { createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../support/needs.ts";
import { makeCageFolder, removeCage, runCaged } from "../support/network-cage.ts";
import { findObstacle } from "../support/network-origin.ts";

// Guards: the way out of an agent's network carries what real work carries, and every connection is told with its bytes.

const obstacle = await findObstacle();
const ADDRESS = `127.79.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const BIG = 1_000_000_000;
const PART = Buffer.alloc(1_000_000, 7);

/** Speaks by the first word: BIG sends a lot, HALF counts until the other side ends, SLOW sends byte by byte. */
const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => undefined);
  socket.once("data", (first: Buffer) => {
    const word = first.toString("latin1", 0, 4);
    if (word === "BIG\n") void sendMuch(socket, BIG);
    else if (word === "SLOW") void sendSlowly(socket);
    else if (word === "HALF") {
      let count = first.length;
      socket.on("data", (bytes: Buffer) => {
        count += bytes.length;
      });
      socket.on("end", () => socket.end(`${count}\n`));
    } else socket.end(first);
  });
});

async function sendMuch(socket: Socket, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += PART.length) {
    if (!socket.write(PART)) await new Promise((done) => socket.once("drain", done));
  }
  socket.end();
}

async function sendSlowly(socket: Socket): Promise<void> {
  for (let i = 0; i < 20; i++) {
    socket.write("s");
    await new Promise((done) => setTimeout(done, 50));
  }
  socket.end();
}

beforeAll(async () => {
  if (obstacle === null) await new Promise<void>((done) => server.listen(80, ADDRESS, 2048, done));
});
afterAll(() => void server.close());

async function cage(script: string) {
  const base = makeCageFolder();
  try {
    return await runCaged({
      guard: "ns-overlay",
      bind: "perl",
      base,
      command: [process.execPath, "-e", script],
      hosts: [{ host: "load.test", port: 80, private: true }],
      network: "allow",
      resolve: async () => [ADDRESS],
    });
  } finally {
    removeCage(base);
  }
}

const OPEN = `const { connect } = require("node:net"); const at = { host: "load.test", port: 80, allowHalfOpen: true };`;

describe("the way out of an agent's network", needs(obstacle), () => {
  it("carries a gigabyte, byte for byte", async () => {
    const script = `${OPEN} let n = 0, wrong = 0; const s = connect(at, () => s.write("BIG\\n"));
      s.on("data", (b) => { n += b.length; if (b[0] !== 7 || b[b.length - 1] !== 7) wrong++; }).on("end", () => { s.end(); console.log(n, wrong); });`;
    const { output, connections } = await cage(script);
    expect(output).toBe(`${BIG} 0\n`);
    expect(connections).toMatchObject([{ via: "transparent", verdict: "allowed", bytes_in: BIG, bytes_out: 4 }]);
  }, 300_000);

  it("carries a thousand connections that are open at once", async () => {
    const script = `${OPEN} const all = []; let open = 0, right = 0, ended = 0;
      for (let i = 0; i < 1000; i++) { const s = connect(at, () => { if (++open === 1000) all.forEach((one, k) => one.write("hello " + k)); });
        s.on("data", (b) => { if (String(b) === "hello " + i) right++; }).on("error", () => undefined).on("close", () => { if (++ended === 1000) console.log(open, right); }).on("end", () => s.end()); all.push(s); }`;
    const { output, connections } = await cage(script);
    expect(output).toBe("1000 1000\n");
    expect(connections.length).toBe(1000);
    expect(new Set(connections.map(({ verdict }) => verdict))).toEqual(new Set(["allowed"]));
  }, 300_000);

  it("carries each direction to its own end, and peers that are slow", async () => {
    const script = `${OPEN} const half = connect(at, () => { half.write("HALF"); half.end(Buffer.alloc(100000)); });
      let text = ""; half.on("data", (b) => { text += b; }).on("end", () => { const slow = connect(at, () => slow.write("SLOW")); let n = 0;
        slow.on("data", (b) => { n += b.length; }).on("end", () => { slow.end(); console.log(text.trim(), n); }); });`;
    const { output } = await cage(script);
    expect(output).toBe("100004 20\n");
  }, 300_000);
});
