import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { Connection } from "../../../core/network/connections.ts";
import type { SyncCrypto } from "../../../core/ports.ts";
import { ConnectionLog } from "./connection-log.ts";

const crypto = {
  sha256: (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex"),
} as SyncCrypto;

const one = (more: Partial<Connection> = {}): Connection => ({
  t: "2026-11-18T09:00:00.000Z",
  via: "connect",
  host: "lamp.example",
  port: 443,
  address: "192.0.2.7",
  verdict: "allowed",
  bytes_out: 1,
  bytes_in: 2,
  ms: 3,
  ...more,
});

it("writes 50,000 lines and no more; the rest is counted, in the log, in the numbers and in the groups", () => {
  const log = new ConnectionLog();
  for (let i = 0; i < 50_000; i++) log.add(one());
  const full = Buffer.from(log.finish()).toString("utf8").split("\n");
  expect([full.length, full.at(-1)]).toEqual([50_001, ""]);
  for (let i = 0; i < 7; i++) log.add(one());
  for (let i = 0; i < 5; i++) log.add(one({ host: "evil.example", verdict: "not_in_list" }));
  const bytes = log.finish();
  const lines = Buffer.from(bytes).toString("utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(50_001);
  expect(JSON.parse(lines.at(-1)!)).toEqual({ more: { allowed: 7, refused: 5 } });
  expect(lines.slice(0, 50_000).every((line) => line === lines[0])).toBe(true);
  expect(log.summarize(crypto)).toEqual({
    allowed: 50_007,
    refused: 5,
    groups: [
      { host: "lamp.example", port: 443, verdict: "allowed", count: 50_007 },
      { host: "evil.example", port: 443, verdict: "not_in_list", count: 5 },
    ],
    lost: false,
    log_sha256: createHash("sha256").update(bytes).digest("hex"),
  });
});

it("tells of a lost relay also when the log is full", () => {
  const log = new ConnectionLog();
  for (let i = 0; i < 50_001; i++) log.add(one());
  log.lose("2026-11-18T09:00:01.000Z");
  const lines = Buffer.from(log.finish()).toString("utf8").trimEnd().split("\n");
  expect(lines.slice(-2).map((line) => JSON.parse(line))).toEqual([
    { relay: "lost", t: "2026-11-18T09:00:01.000Z" },
    { more: { allowed: 1, refused: 0 } },
  ]);
});

it("keeps groups of the first forty ends and goes on counting those", () => {
  const log = new ConnectionLog();
  for (let i = 0; i < 60; i++) log.add(one({ host: `h${i}.example` }));
  log.add(one({ host: "h0.example" }));
  const { groups, allowed } = log.summarize(crypto);
  expect([groups.length, groups[0]?.count, allowed]).toEqual([40, 2, 61]);
});
