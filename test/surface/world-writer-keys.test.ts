// Guards: whoever comes over HTTP cannot have a key of the machine sent to an address of their own by trying a writer.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { startHttp } from "../../src/surfaces/http/server/server.ts";

it("trying a writer and listing models send no key that was not paired, over HTTP", async () => {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-keys-"));
  const heard: string[] = [];
  const listener = createServer((request, response) => {
    heard.push(JSON.stringify([request.url, request.headers]));
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}');
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const base_url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/v1`;
  const env = { MODELS_KEY: "hush-larimbel", VERBATIM_NOTE: "hush-larimbel" };
  const app = openApp({ surface: "http", start: folder, env, platform: process.platform });
  const http = await startHttp({ app, version: "0.0.0", host: "127.0.0.1", port: 0 });
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${http.url}/api/worlds/writer/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${http.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return await answer.text();
  };
  try {
    for (const api_key_env of ["MODELS_KEY", "VERBATIM_NOTE"]) {
      const writer = { kind: "openai-compatible", model: "tide", base_url, api_key_env };
      expect(await ask("test", { writer })).toContain("WRITER_PAIR_FORBIDDEN");
      expect(await ask("models", { kind: writer.kind, base_url, api_key_env })).toContain("WRITER_PAIR_FORBIDDEN");
    }
    expect(heard.join("\n")).not.toContain("hush-larimbel");
  } finally {
    await http.close();
    await app.close();
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
