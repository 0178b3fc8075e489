import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from "node:zlib";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toErrorBody } from "../failure.ts";
import type { Variables } from "../worlds/world-router.ts";
import { StudioAssets } from "./assets.ts";

const PAGE = "<!doctype html><title>Studio</title>";
const SCRIPT = "export const one = 1;\n";

let folder: string;
const hono = new Hono<{ Variables: Variables }>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-assets-"));
  const studio = join(folder, "studio");
  mkdirSync(join(studio, "assets"), { recursive: true });
  const add = (path: string, type: string, text: string) => {
    writeFileSync(join(studio, `${path}.br`), brotliCompressSync(text));
    const sha256 = createHash("sha256").update(text).digest("hex");
    return { path: `/${path}`, type, bytes: text.length, sha256, encodings: ["br", "gzip"] };
  };
  const assets = [
    add("index.html", "text/html; charset=utf-8", PAGE),
    add("assets/main-1.js", "text/javascript; charset=utf-8", SCRIPT),
    add("assets/changed-1.js", "text/javascript; charset=utf-8", SCRIPT),
  ];
  writeFileSync(join(studio, "assets/changed-1.js.br"), brotliCompressSync("export const one = 2;\n"));
  // There, but in no list; and a secret beside the folder.
  writeFileSync(join(studio, "assets/unlisted.js"), "unlisted");
  writeFileSync(join(folder, "secret.txt"), "secret");
  writeFileSync(join(studio, "assets.json"), JSON.stringify({ assets }));
  hono.onError((thrown, call) => call.json(toErrorBody(thrown).body, toErrorBody(thrown).status as 500));
  hono.get("/api/health", (call) => call.json({ ok: true }));
  new StudioAssets(studio).addRoutes(hono);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the files of the Studio", () => {
  it("are served with their type, for good where a hash is in the name, and the page for every address without a dot", async () => {
    const script = await hono.request("/assets/main-1.js");
    expect(await script.text()).toBe(SCRIPT);
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.headers.get("cache-control")).toBe("public, immutable, max-age=31536000");
    for (const path of ["/", "/runs", "/runs/abc/review", "/runs/abc/files/agent/run.json"]) {
      const page = await hono.request(path);
      expect(await page.text()).toBe(PAGE);
      expect(page.headers.get("cache-control")).toBe("no-cache");
      const again = await hono.request(path, { headers: { "if-none-match": page.headers.get("etag")! } });
      expect(again.status).toBe(304);
    }
  });

  it("are compressed only for those who take it", async () => {
    const packed = await hono.request("/assets/main-1.js", { headers: { "accept-encoding": "deflate, gzip;q=0.8" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(SCRIPT);
    const better = await hono.request("/assets/main-1.js", { headers: { "accept-encoding": "gzip, br" } });
    expect(better.headers.get("content-encoding")).toBe("br");
    expect(brotliDecompressSync(await better.arrayBuffer()).toString()).toBe(SCRIPT);
    const plain = await hono.request("/assets/main-1.js", { headers: { "accept-encoding": "zstd" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
  });

  it("serves what its list names and nothing else, whatever is asked for", async () => {
    const asked = [
      "/assets/unlisted.js",
      "/assets/../assets.json",
      "/assets/..%2f..%2fsecret.txt",
      "/assets/%2e%2e/secret.txt",
      "/assets/main-1.js.br",
      "/assets.json",
      "/secret.txt",
      "/assets/",
    ];
    for (const path of asked) {
      const answer = await hono.request(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.text()).not.toContain('secret"');
    }
    expect(await (await hono.request("/api/health")).json()).toEqual({ ok: true });
    for (const path of ["/api/nothing", "/api", "/mcp"]) {
      expect((await (await hono.request(path)).text()).includes("<!doctype")).toBe(false);
    }
  });

  it("are not served when they are not what was built", async () => {
    for (const accepted of ["identity", "gzip"]) {
      const changed = await hono.request("/assets/changed-1.js", { headers: { "accept-encoding": accepted } });
      expect(changed.status).toBe(500);
      expect(await changed.text()).not.toContain("one = 2");
    }
  });
});
