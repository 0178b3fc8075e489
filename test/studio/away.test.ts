// The Studio from another machine: over TLS of its own, through a proxy with TLS, and in the clear where somebody said so.
// And pages that are not ours. The names `studio.test` and `evil.test` lead to loopback in this browser, and nowhere else.
import { createServer, type RequestListener, request, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { en } from "../../web/src/words/en.ts";
import { type Certificate, makeCertificate } from "../support/certificate.ts";
import { StudioBench, type StudioServer, WatchedPage } from "../support/studio.ts";

const bench = new StudioBench("--host-resolver-rules=MAP studio.test 127.0.0.1, MAP evil.test 127.0.0.1");
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
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(() => new URL(page.url()).search).toBe("");
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

/** Tries whatever a page can: every kind of request, forms, frames, windows, channels. Gives what it could read. */
const ATTACK = `
  const reached = [];
  const note = (what) => (value) => void reached.push(what + ": " + String(value).slice(0, 200));
  const quiet = () => undefined;
  globalThis.attack = async (base, paths) => {
    for (const path of paths) {
      const url = base + path;
      for (const init of [
        { method: "GET" },
        { method: "GET", credentials: "include" },
        { method: "POST", body: "{}", headers: { "content-type": "application/json" } },
        { method: "POST", body: "{}", headers: { "content-type": "text/plain" } },
        { method: "DELETE" },
      ]) {
        await fetch(url, init).then((answer) => answer.text()).then(note("read " + path), quiet);
        await fetch(url, { ...init, mode: "no-cors" }).then((answer) => answer.text()).then((text) => text && note("read " + path)(text), quiet);
      }
      await new Promise((resolve) => {
        const form = document.createElement("form");
        const frame = document.createElement("iframe");
        frame.name = "f" + Math.random();
        document.body.append(frame, form);
        Object.assign(form, { action: url, method: "post", target: frame.name });
        frame.onload = () => {
          try { if (frame.contentDocument?.body?.textContent) note("frame " + path)(frame.contentDocument.body.textContent); } catch {}
        };
        form.submit();
        setTimeout(resolve, 20);
      });
    }
    const source = new EventSource(base + "/api/events");
    source.onmessage = ({ data }) => note("event")(data);
    for (const name of ["verbatim-session", "verbatim-events"]) {
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => note("channel")(JSON.stringify(data));
      channel.postMessage({ ask: true });
    }
    const opened = open(base + "/runs");
    await new Promise((resolve) => setTimeout(resolve, 500));
    try { note("opened")(opened.sessionStorage.getItem("session")); } catch {}
    try { note("opened text")(opened.document.body.textContent); } catch {}
    opened?.postMessage({ ask: true }, "*");
    await new Promise((resolve) => setTimeout(resolve, 300));
    return reached;
  };
`;

it("gives a page of another port, and one that calls it by another name, nothing and does nothing for them", async () => {
  const server = await serve();
  const { port } = new URL(server.base);
  const evil = createServer((_request, answer) => {
    answer.writeHead(200, { "content-type": "text/html" });
    answer.end("<!doctype html><title>a harmless page</title><body></body>");
  });
  proxies.push(evil);
  await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  const place = (evil.address() as AddressInfo).port;
  const window = await bench.window();
  // Somebody has the Studio open in the same browser.
  const own = new WatchedPage(await window.newPage(), server.base);
  await own.page.goto(server.link);
  await own.page.locator("[data-state=live]").waitFor();
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const look = async (name: string, input: object) =>
    (await (
      await fetch(`${server.base}/api/operations/${name}`, { method: "POST", headers, body: JSON.stringify(input) })
    ).json()) as object;
  const state = async () => {
    const { summary } = (await look("agent.show", { run })) as { summary: { outcome: string } };
    const { sessions } = (await look("studio.sessions", {})) as { sessions: readonly { id: string }[] };
    return [summary.outcome, ...sessions.map(({ id }) => id)];
  };
  const before = await state();
  const paths = [
    "/",
    "/api/health",
    "/api/session",
    "/api/session/link",
    "/api/openapi.json",
    "/api/events",
    "/api/tasks",
    "/mcp",
  ];
  const operations = ["studio.home", "studio.sessions", "agent.list", "agent.discard", "agent.apply", "agent.undo"];
  const all = [...paths, ...operations.map((name) => `/api/operations/${name}`), `/api/runs/${run}/archive`];
  for (const [name, base] of [
    [`http://127.0.0.1:${place}`, server.base],
    [`http://evil.test:${place}`, `http://evil.test:${port}`],
    [`http://localhost:${place}`, server.base],
  ] as const) {
    const page = await window.newPage();
    const answered: string[] = [];
    page.on("response", (response) => {
      const { pathname, port: from } = new URL(response.url());
      if (from === port && pathname.startsWith("/api/") && pathname !== "/api/health" && response.ok())
        answered.push(response.url());
    });
    await page.goto(name);
    await page.addScriptTag({ content: ATTACK });
    const attack = `attack(${JSON.stringify(base)}, ${JSON.stringify(all)})`;
    expect(await page.evaluate<string[]>(attack)).toEqual([]);
    expect(answered).toEqual([]);
    await page.close();
  }
  expect(await state()).toEqual(before);
  await own.page.locator("[data-state=live]").waitFor();
  expect(own.problems).toEqual([]);
  await window.close();
});
