import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { NetworkProxy } from "./proxy.ts";

it("records what the relay said before it ended, also when nobody had listened yet", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-proxy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hosts: string[] = [];
  const proxy = await NetworkProxy.open({
    folder,
    hosts: () => [],
    resolve: async () => [],
    server: null,
    onConnection: ({ host, verdict }) => hosts.push(`${host} ${verdict}`),
  });
  // While this waits for the other process, nothing is taken: everything is in the kernel when it has ended.
  const said = spawnSync(
    "perl",
    [
      "-e",
      'for my $i (1 .. 40) { socket(my $s, 1, 1, 0) or die; connect($s, pack("S a*", 1, "net.sock")) or die; syswrite($s, "P\\nCONNECT lamp$i.example:443 HTTP/1.1\\r\\n\\r\\n"); close($s) }',
    ],
    { cwd: folder },
  );
  expect(said.status).toBe(0);
  await proxy.close();
  expect(hosts).toHaveLength(40);
  expect(hosts).toContain("lamp40.example not_in_list");
});

it("ends a connection whose host may not be reached any more, and no other", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-proxy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const origin = createServer((socket) => socket.write("hello"));
  await new Promise<void>((done) => origin.listen(0, "127.0.0.1", done));
  const { port } = origin.address() as { readonly port: number };
  const entry = (host: string) => ({ host, port, private: true });
  let hosts = [entry("registry.example"), entry("model.example")];
  const told: string[] = [];
  const proxy = await NetworkProxy.open({
    folder,
    hosts: () => hosts,
    resolve: async () => ["127.0.0.1"],
    server: null,
    onConnection: ({ host, verdict, bytes_in }) => told.push(`${host} ${verdict} ${bytes_in}`),
  });
  const open = async (host: string) => {
    const socket = connect(join(folder, "net.sock"));
    socket.on("error", () => undefined);
    const closed = new Promise<string>((done) => socket.once("close", () => done(`${host} closed`)));
    socket.write(`T ${host} ${port}\n`);
    await new Promise((done) => socket.once("data", done));
    return { socket, closed };
  };
  const [registry, model] = [await open("registry.example"), await open("model.example")];
  hosts = [entry("model.example")];
  proxy.cut();
  expect(await registry.closed).toBe("registry.example closed");
  expect(told).toEqual(["registry.example allowed 5"]);
  expect(model.socket.destroyed).toBe(false);
  await proxy.close();
  expect(await model.closed).toBe("model.example closed");
  origin.close();
});

const SECOND = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
const BYTES = SECOND.length;

it.each([
  ["GET in chunks", "GET", `Transfer-Encoding: chunked\r\n\r\n${BYTES.toString(16)}\r\n${SECOND}\r\n0\r\n\r\n`],
  ["DELETE in chunks", "DELETE", `Transfer-Encoding: chunked\r\n\r\n${BYTES.toString(16)}\r\n${SECOND}\r\n0\r\n\r\n`],
  ["GET with a length", "GET", `Content-Length: ${BYTES}\r\n\r\n${SECOND}`],
  [
    "a length that the next hop is not to see",
    "GET",
    `Connection: content-length\r\nContent-Length: ${BYTES}\r\n\r\n${SECOND}`,
  ],
  [
    "POST with a length that is not to be seen",
    "POST",
    `Connection: content-length\r\nContent-Length: ${BYTES}\r\n\r\n${SECOND}`,
  ],
])("passes a body on as a body, so that no second request comes out of it: %s", async (_, method, rest) => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-proxy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let heard = "";
  const origin = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      heard += bytes.toString("latin1");
      if (heard.includes("evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n")) {
        setTimeout(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), 50);
      }
    });
  });
  await new Promise<void>((done) => origin.listen(0, "127.0.0.1", done));
  const { port } = origin.address() as { readonly port: number };
  const proxy = await NetworkProxy.open({
    folder,
    hosts: () => [{ host: "good.test", port, private: true }],
    resolve: async () => ["127.0.0.1"],
    server: null,
    onConnection: () => undefined,
  });
  const socket = connect(join(folder, "net.sock"));
  const said = new Promise<string>((done) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (text.includes("\r\n\r\n")) done(text);
    });
    socket.once("close", () => done(text));
    socket.on("error", () => undefined);
  });
  socket.write(`P\n${method} http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\n${rest}`);
  expect(await said).toMatch(/^HTTP\/1\.1 200 /);
  await proxy.close();
  origin.close();
  const [head = "", body = ""] = heard.split(/\r\n\r\n(.*)/s);
  const length = /^content-length: ([0-9]+)$/im.exec(head)?.[1];
  const chunked = /^transfer-encoding: chunked$/im.test(head);
  expect(head).toMatch(new RegExp(`^${method} / HTTP/1\\.1\r\nHost: good\\.test:${port}\r\n`));
  // What is behind the head is announced by it, byte for byte.
  if (chunked) expect(body).toBe(`${BYTES.toString(16)}\r\n${SECOND}\r\n0\r\n\r\n`);
  else expect([length, body]).toEqual([String(BYTES), SECOND]);
});

const ASK_MANY = `
use Socket; $| = 1; my @all;
for my $i (1 .. 60) { socket(my $s, 1, 1, 0) or die; connect($s, pack("S a*", 1, "net.sock")) or die "connect: $!"; syswrite($s, "P\\nCONNECT lamp$i.example:443 HTTP/1.1\\r\\n\\r\\n"); push @all, $s }
my ($said, $closed) = (0, 0); local $SIG{ALRM} = sub { print "hangs\\n"; exit 1 }; local $SIG{PIPE} = "IGNORE"; alarm 60;
for my $s (@all) { my $n = sysread($s, my $b, 100); $n ? $said++ : $closed++ } print "$said $closed\\n";`;

it("closes what it has no descriptor for, so that nobody hangs, and goes on once it has some again", async ({
  skip,
}) => {
  const limit = (most: number) =>
    spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${most}:`]).status === 0;
  const usual = Number(/open files +([0-9]+)/i.exec(readLimits())?.[1] ?? 0);
  skip(usual === 0 || !limit(usual), "needs prlimit");
  const folder = mkdtempSync(join(tmpdir(), "verbatim-proxy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hosts: string[] = [];
  const proxy = await NetworkProxy.open({
    folder,
    hosts: () => [],
    resolve: async () => [],
    server: null,
    onConnection: ({ host }) => hosts.push(host),
  });
  // Made before: a process that is out of descriptors starts no other one.
  const raise = spawn("sh", ["-c", `read go; prlimit --pid ${process.pid} --nofile=${usual}:`], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  const raised = new Promise<void>((done) => raise.once("close", () => done()));
  const restore = async () => {
    raise.stdin.end("go\n");
    await raised;
  };
  onTestFinished(restore);
  const ask = async () => {
    const child = spawn("perl", ["-e", ASK_MANY], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (part: Buffer) => (said += part.toString("utf8")));
    // Once it has started: a process of its own takes descriptors as well.
    await new Promise((done) => child.once("spawn", done));
    return { said: () => said, ended: new Promise<void>((done) => child.once("close", () => done())) };
  };
  const poor = await ask();
  expect(limit(readdirSync("/proc/self/fd").length + 6)).toBe(true);
  await poor.ended;
  await restore();
  const [answered, closed] = poor.said().split(" ").map(Number);
  expect(answered! + closed!).toBe(60);
  expect(closed).toBeGreaterThan(0);
  const rich = await ask();
  await rich.ended;
  expect(rich.said()).toBe("60 0\n");
  await proxy.close();
  expect(hosts.length).toBeGreaterThanOrEqual(60);
});

function readLimits(): string {
  return spawnSync("cat", [`/proc/${process.pid}/limits`], { encoding: "utf8" }).stdout;
}
