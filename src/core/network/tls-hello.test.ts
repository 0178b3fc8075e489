import { type AddressInfo, createServer } from "node:net";
import { connect } from "node:tls";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LONGEST_HELLO, readTlsHello } from "./tls-hello.ts";

/** What a real client says first. */
async function greet(servername: string): Promise<Buffer> {
  const server = createServer();
  const first = new Promise<Buffer>((done) => server.once("connection", (socket) => socket.once("data", done)));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
  client.on("error", () => undefined);
  const hello = await first;
  client.destroy();
  server.close();
  return hello;
}

const u16 = (n: number) => [n >> 8, n & 255];
const sni = (...names: string[]) => {
  const list = names.flatMap((name) => [0, ...u16(name.length), ...Buffer.from(name, "latin1")]);
  return [0, 0, ...u16(list.length + 2), ...u16(list.length), ...list];
};
const hello = (extensions: readonly number[] | null, size = 16_384) => {
  const rest = extensions === null ? [] : [...u16(extensions.length), ...extensions];
  const body = [3, 3, ...new Array<number>(32).fill(9), 0, 0, 2, 0x13, 1, 1, 0, ...rest];
  const message = [1, 0, ...u16(body.length), ...body];
  const records: number[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.slice(at, at + size);
    records.push(22, 3, 1, ...u16(part.length), ...part);
  }
  return Uint8Array.from(records);
};

describe("the greeting of a TLS client", () => {
  it("names its server, as a real client says it", async () => {
    expect(readTlsHello(await greet("Good.Example"))).toEqual({ kind: "name", name: "good.example" });
    expect(readTlsHello(await greet(""))).toEqual({ kind: "no_name" });
  });

  it("says the same however it is cut into records, and nothing before it is whole", () => {
    for (const size of [1, 2, 3, 5, 17, 16_384]) {
      const bytes = hello(sni("good.example"), size);
      expect(readTlsHello(bytes)).toEqual({ kind: "name", name: "good.example" });
      for (let end = 0; end < bytes.length; end++) expect(readTlsHello(bytes.subarray(0, end)).kind).toBe("more");
    }
  });

  it.each([
    ["two names", hello(sni("good.example", "evil.example"))],
    ["two extensions with names", hello([...sni("good.example"), ...sni("evil.example")])],
    ["an empty name", hello(sni(""))],
    ["a name with NUL", hello(sni("good.example\0"))],
    ["a name that is not ASCII", hello(sni("g\u00f6od.example"))],
    ["a name of another kind", hello([0, 0, 0, 6, 0, 4, 1, 0, 1, 97])],
    ["a list that is longer than its extension", hello([0, 0, 0, 4, 0, 9, 0, 0])],
    ["bytes behind the list", hello([0, 0, 0, 7, 0, 4, 0, 0, 1, 97, 0])],
    ["an extension that is cut short", hello([0, 0, 0, 99])],
    ["another message", Uint8Array.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ["another record", Uint8Array.from([23, 3, 3, 0, 1, 1])],
    ["an empty record", Uint8Array.from([22, 3, 1, 0, 0])],
    ["a record that is too long", Uint8Array.from([22, 3, 1, 0x50, 0])],
    ["a message that is too long", Uint8Array.from([22, 3, 1, 0, 4, 1, 1, 0, 0])],
    ["the older greeting", Uint8Array.from([0x80, 0x2e, 1, 0, 2])],
    ["HTTP", new TextEncoder().encode("GET / HTTP/1.1\r\n")],
  ])("with %s is none", (_, bytes) => expect(readTlsHello(bytes)).toEqual({ kind: "not_tls" }));

  it("without extensions has no name", () => expect(readTlsHello(hello(null))).toEqual({ kind: "no_name" }));

  it("is answered whatever the bytes are", () => {
    const whole = hello(sni("good.example"), 40);
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.uint8Array({ maxLength: 400 }).map((rest) => Uint8Array.from([22, 3, 1, ...rest])),
      fc
        .tuple(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length))
        .map(([at, value, end]) => whole.with(at, value).slice(0, end)),
    );
    fc.assert(
      fc.property(bytes, (one) => {
        const read = readTlsHello(one);
        expect(["more", "name", "no_name", "not_tls"]).toContain(read.kind);
        // Nobody may be made to wait for more than the longest greeting.
        if (one.length >= LONGEST_HELLO) expect(read.kind).not.toBe("name");
      }),
      { numRuns: 3000 },
    );
  });
});
