import { expect, it } from "vitest";
import { parseSockets } from "./listening-sockets.ts";

it("finds the sockets that take connections or messages at a place, and no others", () => {
  const table = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    "00000000fba6a6a7: 00000002 00000000 00010000 0001 01 24931 /run/lamp/lamp.sock",
    "00000000fba6a6a8: 00000003 00000000 00000000 0001 03 24932 /run/lamp/lamp.sock",
    "00000000fba6a6a9: 00000002 00000000 00010000 0005 01 24933 @/abstract/lamp",
    "0000000000000000: 00000002 00000000 00010000 0001 01    17 /var/lib/gull rock/s",
    "00000000fba6a6aa: 00000002 00000000 00010000 0001 01 24934 /run/lamp/lamp.sock",
    "00000000fba6a6ac: 00000002 00000000 00000000 0002 01 24936 /var/lamp/log",
    "00000000fba6a6ab: 00000003 00000000 00000000 0001 03 24935",
  ].join("\n");
  expect(parseSockets(table)).toEqual(["/run/lamp/lamp.sock", "/var/lib/gull rock/s", "/var/lamp/log"]);
});
