// The Studio from another machine: over TLS of its own, through a proxy with TLS, and in the clear where somebody said so.
// The name `studio.test` leads to loopback in this browser, and nowhere else.
import { createServer, type RequestListener, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { type Certificate, makeCertificate } from "../support/certificate.ts";
import { StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";

const bench = new StudioBench("--host-resolver-rules=MAP studio.test 127.0.0.1");
let pair: Certificate;
let run: string;
const servers: StudioServer[] = [];
const proxies: Server[] = [];

beforeAll(async () => {
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  run = await bench.run("Light the lamp", "echo on > lamp.txt", "--verify", "grep -q on lamp.txt");
  pair = makeCertificate(join(bench.root, "..", "home"));
});

afterAll(async () => {
  for (const server of servers) await server.stop();
  for (const proxy of proxies) proxy.closeAllConnections();
  await Promise.all(proxies.map((proxy) => new Promise((resolve) => proxy.close(resolve))));
  await bench.close();
});

/** A proxy as people put one in front of a server: it calls the server by its own address and hands the rest on. */
async function startProxy(tls: boolean): Promise<{ readonly port: number; target: number }> {
  const proxy = { port: 0, target: 0 };
  const hand: RequestListener = (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const asked = request({ host: "127.0.0.1", port: proxy.target, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    asked.on("error", () => outgoing.end());
    incoming.pipe(asked);
  };
  const server = tls ? createSecureServer({ cert: pair.cert, key: pair.key }, hand) : createServer(hand);
  proxies.push(server as Server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.port = (server.address() as AddressInfo).port;
  return proxy;
}

async function serve(...flags: string[]): Promise<StudioServer> {
  const server = await bench.serve(0, flags);
  servers.push(server);
  return server;
}

/** Opens the printed link and goes to where bytes are checked. */
async function openProof(server: StudioServer) {
  const window = await bench.window({ ignoreHTTPSErrors: true });
  const watched = new WatchedPage(await window.newPage(), server.base);
  const { page } = watched;
  await page.goto(server.link);
  await page.getByRole("heading", { name: en.home.health }).waitFor();
  const said = await page.getByText(en.plainHttp).count();
  await page.goto(`${server.base}/runs/${run}/proof`);
  await page.getByRole("button", { name: en.run.bytes }).first().click();
  return { window, watched, page, said };
}

it("is served over TLS of its own, and hashes are computed in the page", async () => {
  const server = await serve("--tls-cert", pair.certFile, "--tls-key", pair.keyFile);
  expect(server.base).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const { window, watched, page, said } = await openProof(server);
  await page.getByText(en.run.sameHash).waitFor();
  expect([said, watched.problems]).toEqual([0, []]);
  await window.close();
});

it("is served through a proxy with TLS under the name of the proxy, events and all", async () => {
  const proxy = await startProxy(true);
  const server = await serve("--public-url", `https://studio.test:${proxy.port}`);
  proxy.target = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(server.said())?.[1]);
  expect(server.base).toBe(`https://studio.test:${proxy.port}`);
  const { window, watched, page, said } = await openProof(server);
  await page.getByText(en.run.sameHash).waitFor();
  await page.locator("[data-state=live]").waitFor();
  expect([said, watched.problems]).toEqual([0, []]);
  await window.close();
});

it("in the clear says what is missing, on the page that asks for the key too, and lands as everywhere", async () => {
  const proxy = await startProxy(false);
  const server = await serve("--insecure-http", "--public-url", `http://studio.test:${proxy.port}`);
  proxy.target = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(server.said())?.[1]);
  expect(server.said()).toContain("warning: plain HTTP");
  const { window, watched, page, said } = await openProof(server);
  expect(said).toBe(1);
  await page.getByText(en.run.noHash).waitFor();
  expect(await page.evaluate("isSecureContext")).toBe(false);
  await page.goto(`${server.base}/runs/${run}`);
  await page.locator("[data-testid=verdict]", { hasText: "Ready to land" }).waitFor();
  await page.keyboard.press("a");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: en.acts.apply(1) })
    .click();
  await page.locator("[data-testid=verdict]", { hasText: "Landed" }).waitFor();
  expect(bench.read("lamp.txt")).toBe("on\n");
  await page.goto(`${server.base}/settings/access`);
  await page.getByRole("button", { name: en.settings.endThis }).click();
  await page.getByRole("heading", { name: en.key.title }).waitFor();
  await page.locator("form").getByText(en.plainHttp).waitFor();
  // In the clear the browser takes no opener policy, and says so at every page; nothing else is wrong.
  const others = watched.problems.filter(
    (problem) => !problem.includes("Cross-Origin-Opener-Policy header has been ignored"),
  );
  expect(others).toEqual([]);
  await window.close();
});
