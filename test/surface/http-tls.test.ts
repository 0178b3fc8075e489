// Guards: off loopback nothing travels in the clear unless somebody said so, and only under names that were given.
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApp } from "../../src/app/call.ts";
import { startMcpHttp } from "../../src/surfaces/http/mcp-route.ts";
import { type RunningHttp, startHttp } from "../../src/surfaces/http/server/server.ts";
import { runStudio } from "../../src/surfaces/http/server/studio.ts";
import { type Certificate, makeCertificate } from "../support/certificate.ts";

const TOKEN = "harbour-token-of-the-owner";

let folder: string;
let pair: Certificate;
let other: Certificate;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-tls-")));
  pair = makeCertificate(folder);
  other = makeCertificate(folder, "other");
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `verbatim studio` in this process, until it has printed its link. */
async function run(...argv: string[]) {
  const said = { stdout: "", stderr: "" };
  const stop = new AbortController();
  const write = (stream: "stdout" | "stderr") => ({
    write(text: string) {
      said[stream] += text;
      if (stream === "stdout") stop.abort();
    },
  });
  const streams = { stdout: write("stdout"), stderr: write("stderr") };
  const world = { cwd: folder, env: { HOME: folder }, platform: process.platform, version: "0.0.0", ...streams };
  const exit = await runStudio({ ...world, argv: ["--port", "0", ...argv], signal: stop.signal });
  return { exit, ...said };
}

const REFUSED = expect.stringContaining("error[PLAIN_HTTP_REFUSED]") as unknown;

describe("a server off loopback", () => {
  it("does not start in the clear, and says what would make it start", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      const { exit, stdout, stderr } = await run("--host", host, "--token", TOKEN);
      expect([exit, stdout, stderr]).toEqual([2, "", REFUSED]);
      expect(stderr).toContain(`  where: ${JSON.stringify(host)}\n`);
      for (const flag of ["--tls-cert", "--tls-key", "--public-url", "--insecure-http"]) expect(stderr).toContain(flag);
    }
    // A public address without TLS is no better, on loopback neither.
    for (const more of [["--host", "0.0.0.0"], []]) {
      const refused = await run(...more, "--public-url", "http://studio.example.org");
      expect([refused.exit, refused.stdout, refused.stderr]).toEqual([2, "", REFUSED]);
    }
    const mcp = { mcp: { fetch: async () => new Response() }, log: () => undefined, port: 0, token: TOKEN };
    await expect(startMcpHttp({ ...mcp, host: "0.0.0.0" })).rejects.toMatchObject({ code: "PLAIN_HTTP_REFUSED" });
  });

  it("starts with TLS, behind a proxy with TLS, or in the clear with a warning; links name what people can open", async () => {
    const tls = await run("--host", "0.0.0.0", "--tls-cert", pair.certFile, "--tls-key", pair.keyFile);
    expect([tls.exit, tls.stderr]).toEqual([0, ""]);
    expect(tls.stdout).toMatch(/^https:\/\/\d+\.\d+\.\d+\.\d+:\d+\/#k=[0-9a-f]{32}\n$/);
    expect(tls.stdout).not.toContain("0.0.0.0");
    const proxied = await run("--host", "0.0.0.0", "--public-url", "https://studio.example.org:8443", "--at", "/runs");
    expect(proxied.exit).toBe(0);
    expect(proxied.stdout).toMatch(/^https:\/\/studio\.example\.org:8443\/runs#k=[0-9a-f]{32}\n$/);
    expect(proxied.stderr).toMatch(/^listening on http:\/\/\d+\.\d+\.\d+\.\d+:\d+\n$/);
    const plain = await run("--host", "0.0.0.0", "--insecure-http");
    expect([plain.exit, plain.stderr]).toEqual([0, expect.stringMatching(/^warning: plain HTTP; everyone/)]);
    // On loopback nobody else listens, and nothing is said.
    expect((await run("--insecure-http")).stderr).toBe("");
    expect((await run("--host", "127.0.0.7")).stdout).toMatch(/^http:\/\/127\.0\.0\.7:\d+\/#k=/);
  });

  it("takes no half of a certificate, none that does not fit its key, no key that others read, no address with a path", async () => {
    const refuse = async (said: string, ...argv: string[]) => {
      const { exit, stdout, stderr } = await run("--host", "0.0.0.0", ...argv);
      expect([argv, exit, stdout, stderr]).toEqual([argv, 2, "", expect.stringContaining(said)]);
    };
    const { certFile, keyFile } = pair;
    await refuse("only work together", "--tls-cert", certFile);
    await refuse("only work together", "--tls-key", keyFile);
    await refuse("not a certificate and its key", "--tls-cert", certFile, "--tls-key", other.keyFile);
    chmodSync(other.certFile, 0o600);
    await refuse("not a certificate and its key", "--tls-cert", keyFile, "--tls-key", other.certFile);
    await refuse("error[FILE_UNREADABLE]", "--tls-cert", certFile, "--tls-key", join(folder, "nowhere"));
    await refuse("not a regular file", "--tls-cert", "/dev/zero", "--tls-key", keyFile);
    const open = join(folder, "open.pem");
    writeFileSync(open, pair.key);
    chmodSync(open, 0o644);
    await refuse("other users can read the key", "--tls-cert", certFile, "--tls-key", open);
    chmodSync(open, 0o640);
    expect((await run("--host", "0.0.0.0", "--tls-cert", certFile, "--tls-key", open)).exit).toBe(0);
    for (const url of ["studio.example.org", "https://a.example/x", "https://a.example/?k", "ftp://a.example", ""])
      await refuse("--public-url must be", "--public-url", url);
    await refuse("--public-url must be", "--public-url", "https://somebody:secret@studio.example.org");
  });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string; readonly where?: string } };
}

/** A request with any Host, trusting our certificate and no other. */
async function ask(to: RunningHttp, method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const { protocol, port } = new URL(to.url);
  const how = { host: "127.0.0.1", port, method, path, headers, ca: pair.cert };
  return await new Promise<Answer>((resolve, reject) => {
    const asked = protocol === "https:" ? secureRequest(how) : plainRequest(how);
    asked.once("error", reject);
    asked.once("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: (text.startsWith("{") ? JSON.parse(text) : {}) as never }),
      );
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

describe("over TLS", () => {
  let app: ReturnType<typeof openApp>;
  let secure: RunningHttp;
  let behind: RunningHttp;

  beforeAll(async () => {
    app = openApp({ surface: "http", start: folder, env: { HOME: folder }, platform: process.platform });
    const common = { app, version: "0.0.0", host: "0.0.0.0", port: 0, token: TOKEN };
    secure = await startHttp({ ...common, tlsCert: pair.certFile, tlsKey: pair.keyFile });
    behind = await startHttp({ ...common, publicUrl: "https://studio.test" });
  });

  afterAll(async () => {
    await secure.close();
    await behind.close();
    await app.close();
  });

  it("a link opens a session, and the API answers its page and no other", async () => {
    const host = `127.0.0.1:${new URL(secure.url).port}`;
    const own = { host, origin: `https://${host}`, "content-type": "application/json" };
    const code = new URL(secure.makeLink()).hash.slice("#k=".length);
    const opened = await ask(secure, "POST", "/api/session", own, { code });
    expect(opened.status).toBe(200);
    const headers = { ...own, authorization: `Bearer ${String(opened.body["session"])}` };
    expect((await ask(secure, "POST", "/api/operations/studio.sessions", headers, {})).status).toBe(200);
    const foreign = [`http://${host}`, "https://127.0.0.1", "https://evil.example", "null"];
    for (const origin of foreign) {
      const refused = await ask(secure, "POST", "/api/operations/studio.sessions", { ...headers, origin }, {});
      expect([origin, refused.status, refused.body.error]).toMatchObject([
        origin,
        403,
        { code: "HOST_REFUSED", where: "Origin" },
      ]);
    }
  });

  it("nothing older than TLS 1.2 and nothing in the clear is spoken at its port", async () => {
    const { port } = new URL(secure.url);
    const protocol = (options: object) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: "127.0.0.1", port: Number(port), ca: pair.cert, ...options });
        socket.once("secureConnect", () => {
          resolve(`${socket.getProtocol()} ${socket.authorized}`);
          socket.destroy();
        });
        socket.once("error", () => resolve("refused"));
      });
    expect(await protocol({})).toBe("TLSv1.3 true");
    expect(await protocol({ maxVersion: "TLSv1.2" })).toBe("TLSv1.2 true");
    // As old as our own side can be made to speak.
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
    expect(await protocol(old)).toBe("refused");
    await expect(fetch(`http://127.0.0.1:${port}/api/health`)).rejects.toThrow();
  });

  it("behind a proxy only whoever came by the public name is answered", async () => {
    const { port } = new URL(behind.url);
    const auth = { authorization: `Bearer ${TOKEN}` };
    const get = (headers: Record<string, string>) => ask(behind, "GET", "/api/worlds", { ...auth, ...headers });
    expect((await get({ host: "studio.test" })).status).toBe(200);
    expect((await get({ host: "studio.test", origin: "https://studio.test" })).status).toBe(200);
    for (const host of [`127.0.0.1:${port}`, "localhost", "evil.example", new URL(behind.url).host]) {
      expect([host, (await get({ host })).status]).toEqual([host, 403]);
    }
    for (const origin of ["http://studio.test", "https://studio.test:8443", "https://evil.example"]) {
      expect([origin, (await get({ host: "studio.test", origin })).status]).toEqual([origin, 403]);
    }
  });
});
