import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { needs } from "../../../test/support/needs.ts";
import { listListeningSockets, parseSockets } from "./listening-sockets.ts";

it("finds the sockets that take connections or messages under a name, and no others", () => {
  const table = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    "00000000fba6a6a7: 00000002 00000000 00010000 0001 01 24931 /run/lamp/lamp.sock",
    "00000000fba6a6a8: 00000003 00000000 00000000 0001 03 24932 /run/lamp/lamp.sock",
    "00000000fba6a6a9: 00000002 00000000 00010000 0005 01 24933 @/abstract/lamp",
    "0000000000000000: 00000002 00000000 00010000 0001 01    17 /var/lib/gull rock/s",
    "00000000fba6a6ad: 00000002 00000000 00010000 0001 01 24937 lamp.sock",
    "00000000fba6a6ae: 00000002 00000000 00010000 0001 01 24938 /var/lamp/two",
    "lines.sock",
    "00000000fba6a6ac: 00000002 00000000 00000000 0002 01 24936 /var/lamp/log",
    "00000000fba6a6ab: 00000003 00000000 00000000 0001 03 24935",
    "",
  ].join("\n");
  expect(parseSockets(table)).toEqual([
    { name: "/run/lamp/lamp.sock", inode: "24931" },
    { name: "/var/lib/gull rock/s", inode: "17" },
    { name: "lamp.sock", inode: "24937" },
    { name: "/var/lamp/two\nlines.sock", inode: "24938" },
    { name: "/var/lamp/log", inode: "24936" },
  ]);
});

const why = process.platform === "linux" ? null : "only Linux has a table of all sockets";

describe("of this machine", needs(why), () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-sockets-")));
  const servers: Server[] = [];
  const listen = async (path: string) => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((done) => server.listen(path, done));
  };

  afterAll(async () => {
    for (const server of servers) await new Promise((done) => server.close(done));
    rmSync(base, { recursive: true, force: true });
  });

  it("names one by every name that it has: bound without a folder, renamed, linked, with a line feed", async () => {
    for (const name of ["plain", "stood", "renamed", "linked", "lines"]) mkdirSync(join(base, name));
    await listen(join(base, "plain/s"));
    const before = process.cwd();
    process.chdir(join(base, "stood"));
    try {
      await listen("s");
    } finally {
      process.chdir(before);
    }
    await listen(join(base, "renamed/new"));
    renameSync(join(base, "renamed/new"), join(base, "renamed/s"));
    await listen(join(base, "linked/s"));
    linkSync(join(base, "linked/s"), join(base, "linked/t"));
    await listen(join(base, "lines/two\nlines"));
    for (const name of ["plain", "renamed", "linked"]) writeFileSync(join(base, name, "file"), "");
    process.chdir(join(base, "stood"));
    try {
      const found = listListeningSockets().filter((place) => place.startsWith(`${base}/`));
      const expected = ["lines/two\nlines", "linked/s", "linked/t", "plain/s", "renamed/s", "stood/s"];
      expect(found.sort()).toEqual(expected.map((path) => join(base, path)));
    } finally {
      process.chdir(before);
    }
  });
});
