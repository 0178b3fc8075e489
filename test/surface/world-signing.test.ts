// Signing and trusting exports at the surfaces: what names a file of the caller is for the surfaces of this machine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/app/call.ts";
import { openApp } from "../../src/app/call.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";

let folder: string;
let app: App;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-signing-"));
  const env = { XDG_CONFIG_HOME: join(folder, "config") };
  app = openApp({ surface: "library", start: folder, env, platform: process.platform });
  for (const id of ["w_harbour", "w_island"]) await app.call("world.new", { title: id, world_id: id, timezone: "UTC" });
  await app.call("keys.new", { name: "harbour" });
  await app.call("keys.policy-init", { file: "trust.json", keys: ["harbour"] });
  for (const id of ["w_harbour", "w_island"]) {
    const made = await app.call("world.export", { world: id, out: `${id}.jsonl`, sign: "harbour" });
    expect(made).toMatchObject({ world_id: id, key_id: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  }
});

afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The export of one world with the signature of another. */
function swapped(): string {
  const [own, other] = ["w_harbour", "w_island"].map((id) => readFileSync(join(folder, `${id}.jsonl`), "utf8"));
  const take = (text: string) => /"signature":\{.*\},"type":"manifest"/.exec(text)![0];
  return own!.replace(take(own!), take(other!));
}

describe("an export that is signed", () => {
  it("is trusted with the policy that names its key, as a file and as lines", async () => {
    const report = await app.call("world.verify", { file: "w_harbour.jsonl", trust: "trust.json" });
    expect(report).toMatchObject({ ok: true, world_id: "w_harbour", trust: { verdict: "TRUSTED" } });
    const lines: string[] = [];
    for await (const line of app.lines("world.export", { world: "w_harbour", sign: "harbour" })) lines.push(line);
    expect(lines.at(-1)).toContain('"signature":{"payload":');
  });

  it("is refused with the signature of another world, by verification and import, and nothing is written", async () => {
    writeFileSync(join(folder, "swapped.jsonl"), swapped());
    expect(await app.call("world.verify", { file: "swapped.jsonl", trust: "trust.json" })).toMatchObject({
      ok: false,
      trust: { verdict: "UNTRUSTED", code: "ATTESTATION_SUBJECT_MISMATCH" },
    });
    const imported = app.call("world.import", { file: "swapped.jsonl", as: "w_other" });
    await expect(imported).rejects.toMatchObject({ code: "IMPORT_VERIFY_FAILED" });
    expect(((await app.call("world.list", {})) as { worlds: unknown[] }).worlds).toHaveLength(2);
  });

  it("names the flag that makes no sense", async () => {
    writeFileSync(join(folder, "mira.json"), '{"name":"Mira","description":"Mira keeps the lighthouse."}');
    const card = { file: "mira.json", world: "w_harbour", trust: "trust.json" };
    await expect(app.call("world.import", card)).rejects.toMatchObject({ code: "USAGE", where: "/trust" });
    const stored = app.call("world.verify", { world: "w_harbour", trust: "trust.json" });
    await expect(stored).rejects.toMatchObject({ code: "USAGE", where: "/trust" });
    const unknown = app.call("world.export", { world: "w_harbour", sign: "nobody" });
    await expect(unknown).rejects.toMatchObject({ code: "KEY_UNKNOWN" });
  });
});

describe("the HTTP surface", () => {
  it("signs nothing, and refuses an import whose signature is of another file", async () => {
    const env = { XDG_CONFIG_HOME: join(folder, "config") };
    await using http = openApp({ surface: "http", start: folder, env, platform: process.platform });
    const streams = new WorldStreams(http);
    const { hono } = await makeHttpSurface({ app: http, version: "0.0.0", host: "127.0.0.1", token: null }, streams);
    const ask = async (path: string, body: string): Promise<[number, string]> => {
      const type = path.startsWith("/api/operations/") ? "application/json" : "application/octet-stream";
      const init = { method: "POST", headers: { host: "127.0.0.1", "content-type": type }, body };
      const answer = await hono.fetch(new Request(`http://127.0.0.1${path}`, init));
      return [answer.status, ((await answer.json()) as { readonly error?: { code: string } }).error?.code ?? ""];
    };
    const sign = JSON.stringify({ world: "w_harbour", sign: "harbour" });
    expect(await ask("/api/operations/world.export", sign)).toEqual([400, "USAGE"]);
    expect(await ask("/api/worlds/import?as=w_third", swapped())).toEqual([422, "IMPORT_VERIFY_FAILED"]);
    const good = readFileSync(join(folder, "w_harbour.jsonl"), "utf8");
    expect(await ask("/api/worlds/import?as=w_third", good)).toEqual([200, ""]);
    await streams.close();
  });
});
