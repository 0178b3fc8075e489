import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
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
