import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import type { Context, Hono } from "hono";
import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { Variables } from "../worlds/world-router.ts";

const LIST = z.object({
  assets: z.array(
    z.object({
      path: z.string().regex(/^\/[\w./-]+$/),
      type: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      encodings: z.array(z.enum(["br", "gzip"])),
    }),
  ),
});

type Asset = z.infer<typeof LIST>["assets"][number];

/** A file of the record of a run: its name ends with what it is. */
const RECORD = /^\/runs\/[^/.]+\/files\//;
const FOREVER = "public, immutable, max-age=31536000";

/** Only what its own files are: no other origin, nothing inline, and no text that becomes markup or a script's address. */
export const STUDIO_POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types verbatim";

/**
 * The pages of the Studio. The list made when they were built says what there is: no folder is looked into because somebody
 * asked, and a file that is not what the list says is not served.
 */
export class StudioAssets {
  readonly #folder: string;
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #kept = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(folder: string) {
    this.#folder = folder;
    const list = LIST.parse(JSON.parse(readFileSync(join(folder, "assets.json"), "utf8")));
    this.#assets = new Map(list.assets.map((asset) => [asset.path, asset]));
  }

  /** Answers for the page itself, for its files, and for every address without a dot and of a record, which the page reads. */
  addRoutes(hono: Hono<{ Variables: Variables }>): void {
    hono.get("/assets/*", (call) => this.#answer(call, call.req.path, FOREVER));
    hono.get("/sw.js", (call) => this.#answer(call, "/sw.js", "no-cache"));
    hono.get("/licences.txt", (call) => this.#answer(call, "/licences.txt", "no-cache"));
    hono.get("*", async (call, next) => {
      const { path } = call.req;
      const isPage = !path.includes(".") || RECORD.test(path);
      if (path.startsWith("/api/") || path === "/api" || path === "/mcp" || !isPage) return next();
      return this.#answer(call, "/index.html", "no-cache");
    });
  }

  #answer(call: Context, path: string, cache: string): Response {
    const asset = this.#assets.get(path);
    if (asset === undefined) throw new VerbatimError("ROUTE_UNKNOWN");
    const etag = `"${asset.sha256.slice(0, 32)}"`;
    const headers = { "Cache-Control": cache, ETag: etag, Vary: "Accept-Encoding" };
    if (call.req.header("if-none-match") === etag) return call.body(null, 304, headers);
    const accepted = (call.req.header("accept-encoding") ?? "").split(",").map((one) => one.trim().split(";")[0]);
    const encoding = asset.encodings.find((one) => accepted.includes(one));
    const bytes = this.#bytes(asset, encoding ?? "plain");
    return call.body(bytes, 200, {
      ...headers,
      "Content-Type": asset.type,
      ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
      "Cross-Origin-Opener-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=(), clipboard-write=(self)",
    });
  }

  /** Each file is read, or made, once. The kept ones are small: all of them together are less than 2 MB. */
  #bytes(asset: Asset, form: "plain" | "br" | "gzip"): Uint8Array<ArrayBuffer> {
    const name = `${form} ${asset.path}`;
    const known = this.#kept.get(name);
    if (known !== undefined) return known;
    // Browsers take the better one over TLS and on this machine; the others would double what everybody downloads.
    const bytes =
      form === "br" ? this.#load(asset) : form === "gzip" ? gzip(this.#bytes(asset, "plain")) : this.#unpack(asset);
    this.#kept.set(name, bytes);
    return bytes;
  }

  #unpack(asset: Asset): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(brotliDecompressSync(this.#read(asset)));
    if (createHash("sha256").update(bytes).digest("hex") === asset.sha256) return bytes;
    throw new VerbatimError("INTERNAL", { message: `${asset.path} is not the file that was built` });
  }

  /** What it unpacks to is compared with its hash before anybody gets it. */
  #load(asset: Asset): Uint8Array<ArrayBuffer> {
    this.#bytes(asset, "plain");
    return this.#read(asset);
  }

  #read(asset: Asset): Uint8Array<ArrayBuffer> {
    return new Uint8Array(readFileSync(join(this.#folder, ...`${asset.path}.br`.slice(1).split("/"))));
  }
}

function gzip(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(bytes));
}
