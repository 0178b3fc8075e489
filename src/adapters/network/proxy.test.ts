import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
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
      'for my $i (1 .. 40) { socket(my $s, 1, 1, 0) or die; connect($s, pack("S a*", 1, "net.sock")) or die; syswrite($s, "N lamp$i.example\\n"); close($s) }',
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
