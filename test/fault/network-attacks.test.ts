import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleChild } from "../support/child.ts";
import { needs } from "../support/needs.ts";
import { type Caged, LISTED, makeCageFolder, removeCage, runCaged } from "../support/network-cage.ts";
import { findObstacle, makeTable, type Origins, openOrigins } from "../support/network-origin.ts";
import { makeScratchFolder } from "../support/scratch.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

// Guards: a command with the network `allow` reaches the listed hosts and nothing else, by every way that was ever tried
// against this sandbox or published against another one, and what the proxy refused is in the record.

// A copy, because the checkout may lie below the temporary folder, which a caged command does not see.
const shelf = makeScratchFolder("attacker-");
const ATTACKER = join(shelf, "network-attacker.mjs");
copyFileSync(new URL("../support/network-attacker.mjs", import.meta.url), ATTACKER);
chmodSync(shelf, 0o755);

const VARIANTS = [
  { guard: "ns-overlay", bind: "perl" },
  { guard: "ns-bind", bind: "perl" },
  { guard: "ns-bind", bind: "bubblewrap" },
] as const;

/** What came of it inside, and how the record tells of it. */
type Row = readonly [attack: string, inside: unknown, recorded: string | null];

const REACHED: readonly Row[] = [
  ["an allowed host through the proxy", "200", "connect good.test:443 allowed"],
  ["an allowed host in upper case with a final dot", "200", "connect good.test:443 allowed"],
  ["an allowed host by SOCKS", "200", "socks5 good.test:443 allowed"],
  ["an allowed host over plain HTTP", "200", "http good.test:80 allowed"],
  ["a greeting in records of seven bytes", true, "connect good.test:443 allowed"],
  ["a server of its own", "own", null],
];

/** Names are answered only where the relay may have the port of a name service. */
const BY_NAME: readonly Row[] = [
  ["an allowed host by name, without a proxy", "200", "transparent good.test:443 allowed"],
  ["another TLS name by name", "ECONNRESET", "transparent good.test:443 tls_name_differs"],
  ["a name that is not listed", "ENOTFOUND", "name evil.test:null not_in_list"],
  ["data in a queried name", "ENOTFOUND", "name c2vjcmv0lwtleq.evil.test:null not_in_list"],
  ["an address of the machine, directly", "closed", null],
  ["an address of a listed name that has none", "closed", null],
];

/** A wide letter in a name, byte by byte as the proxy was given it. */
const WIDE = Buffer.from("ｇood.test").toString("latin1");

const REFUSED: readonly Row[] = [
  ["a dotted address", "403", "connect OTHER:443 literal_address"],
  ["a decimal address", "403", "connect 2130706433:443 literal_address"],
  ["a hexadecimal address", "403", "connect 0x7f000001:443 literal_address"],
  ["an octal address", "403", "connect 0177.0.0.1:443 literal_address"],
  ["a short address", "403", "connect 127.1:443 literal_address"],
  ["a bracketed address", "403", "connect [::1]:443 literal_address"],
  ["a mapped address", "403", "connect [::ffff:127.0.0.1]:443 literal_address"],
  ["an address with a final dot", "403", "connect 127.0.0.1.:443 literal_address"],
  ["an address as a SOCKS name", "5,2", "socks5 127.0.0.1:443 literal_address"],
  ["a SOCKS address", "5,2", "socks5 127.0.0.1:443 literal_address"],
  ["a SOCKS address of the newer kind", "5,2", "socks5 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1:443 literal_address"],
  ["a link-local address with a zone", "403", "connect [fe80::1%25eth0]:443 bad_name"],
  ["NUL in a name", "5,2", "socks5 good.test\0.evil.test:443 bad_name"],
  ["NUL behind an allowed name", "5,2", "socks5 evil.test\0good.test:443 bad_name"],
  ["a percent sign in a name", "403", "connect good.test%00.evil.test:443 bad_name"],
  ["full-width letters in a name", "5,2", `socks5 ${WIDE}:443 bad_name`],
  ["a hash in a name", "400", null],
  ["a star as a name", "403", "connect *:443 bad_name"],
  ["a star in a name", "403", "connect *.good.test:443 bad_name"],
  ["a second final dot", "403", "connect good.test..:443 bad_name"],
  ["an empty label", "403", "connect good..test:443 bad_name"],
  ["userinfo in CONNECT", "403", "connect good.test@evil.test:443 bad_name"],
  ["userinfo in a target", "400", "http http://good.test:80@evil.test/:null bad_request"],
  ["a backslash in a target", "400", null],
  ["a name in another script by its ASCII form", "403", "connect xn--gd-fka.test:443 not_in_list"],
  ["an unlisted host", "403", "connect evil.test:443 not_in_list"],
  ["an unlisted host over plain HTTP", "403", "http evil.test:80 not_in_list"],
  ["an unlisted host by SOCKS", "5,2", "socks5 evil.test:443 not_in_list"],
  ["an unlisted host behind an allowed Host", "403", "connect evil.test:443 not_in_list"],
  ["an unlisted host through a proxy of its own", "403", "connect passed-on.test:443 not_in_list"],
  ["HTTP of the second version", "400", null],
  ["a look-alike with the name as its prefix", "403", "connect good.test.evil.test:443 not_in_list"],
  ["a look-alike with the name as its suffix", "403", "connect evilgood.test:443 not_in_list"],
  ["the apex of a wildcard", "403", "connect wild.test:443 not_in_list"],
  ["a look-alike of a wildcard", "403", "connect notwild.test:443 not_in_list"],
  ["another port of an allowed host", "403", "connect good.test:8443 not_in_list"],
  ["a port out of range", "400", "connect good.test:65979:null bad_request"],
  ["the proxy itself", "403", "connect localhost:3128 not_in_list"],
  ["the proxy itself by its address", "403", "connect 127.0.0.1:3128 literal_address"],
  ["an allowed name that resolves to loopback", "403", "connect loop.test:443 private_address"],
  ["two private addresses as an answer", "403", "connect metadata.test:443 private_address"],
  ["a mapped address as an answer", "403", "connect mapped.test:443 private_address"],
  ["an allowed name that does not resolve", "502", "connect nowhere.test:443 unresolved"],
  ["another TLS name than CONNECT", "ECONNRESET", "connect good.test:443 tls_name_differs"],
  ["no TLS name", "ECONNRESET", "connect good.test:443 no_tls_name"],
  ["no TLS", "closed", "connect good.test:443 no_tls_name"],
  ["two TLS names", "closed", "connect good.test:443 no_tls_name"],
  ["a TLS name with a look-alike in small records", "closed", "connect good.test:443 tls_name_differs"],
  ["a TLS name that ends with NUL", "closed", "connect good.test:443 no_tls_name"],
  ["TLS to the proxy", "400", null],
  ["a request for https through the proxy", "400", "http https://good.test/:null bad_request"],
  ["plain HTTP on port 443", "403", "http good.test:443 no_tls_name"],
  ["Host against the request line", "good.test", null],
  ["two Host headers", '["good.test"]', null],
  ["a redirect to an unlisted host", "http://evil.test/ 403", "http evil.test:80 not_in_list"],
  ["a second host on a kept-alive connection", "200 403", "http evil.test:80 not_in_list"],
  ["a second host pipelined behind the first", "not reached", null],
  ["a request smuggled behind two lengths", "400", null],
  ["a bare path to the proxy", "400", "http /:null bad_request"],
  ["a request that is not HTTP", "400", null],
  ["SOCKS of the older kind", "400", null],
  ["SOCKS UDP", "5,7", null],
  ["SOCKS BIND", "5,7", null],
  ["SOCKS with a password only", 255, null],
  ["proxy variables cleared", "refused", null],
  ["NO_PROXY=*", "not reached", null],
  ["a public address, directly", "ENETUNREACH", null],
  ["raw IPv6", "ENETUNREACH", null],
  ["UDP to a resolver", "ENETUNREACH", null],
  ["AF_VSOCK", "refused", null],
  ["AF_PACKET", "refused", null],
  ["AF_ALG", "refused", null],
  ["AF_BLUETOOTH", "refused", null],
  ["io_uring", "absent", null],
  ["calls of another architecture", "refused", null],
  ["an abstract socket of the machine", "ECONNREFUSED", null],
  ["the way out, by its path", "ENOENT", null],
  ["the relay, looked into", "closed", null],
  ["interfaces", "lo", null],
];

const obstacle = await findObstacle();
// The program for somebody else lies in the checkout, what it attacks with on the shelf.
const closed = findClosedFolder(fileURLToPath(new URL("../..", import.meta.url))) ?? findClosedFolder(shelf);

/** One run of all attacks, or why there is none. */
type Ran = { readonly caged: Caged; readonly results: Readonly<Record<string, unknown>> } | { readonly why: string };

let origins: Origins;
let program: Awaited<ReturnType<typeof bundleChild>>;
const folders: string[] = [];
const runs = new Map<string, Promise<Ran>>();

beforeAll(async () => {
  if (obstacle !== null) return;
  origins = await openOrigins();
  program = await bundleChild("test/support/network-child.ts");
  // All at once: most of their time they wait for each other's answers.
  for (const { guard, bind } of VARIANTS) {
    for (const isSomebody of [false, true]) {
      if (!isSomebody || closed === null) attack(guard, bind, isSomebody).catch(() => undefined);
    }
  }
});

afterAll(async () => {
  await Promise.allSettled(runs.values());
  for (const folder of folders) removeCage(folder);
  rmSync(shelf, { recursive: true, force: true });
  program?.remove();
  await origins?.close();
});

function attack(guard: "ns-overlay" | "ns-bind", bind: "perl" | "bubblewrap", isSomebody: boolean): Promise<Ran> {
  const key = `${guard} ${bind} ${isSomebody}`;
  const known = runs.get(key);
  if (known !== undefined) return known;
  const base = makeCageFolder(isSomebody);
  folders.push(base);
  const facts = { other: origins.other, abstract: origins.abstract, path: join(base, "work/net.sock") };
  const command = [process.execPath, ATTACKER, JSON.stringify(facts)];
  const request = { guard, bind, base, command, hosts: LISTED, network: "allow", table: makeTable(origins) } as const;
  const ran = (async (): Promise<Ran> => {
    const { stdout } = await promisify(execFile)(process.execPath, [program.file, JSON.stringify(request)], {
      env: { PATH: "/usr/bin:/bin" },
      maxBuffer: 16 * 1024 * 1024,
      ...(isSomebody ? SOMEBODY : {}),
    });
    const { answer, caged } = JSON.parse(stdout) as { readonly answer: string; readonly caged: Caged | null };
    if (caged === null) return { why: answer };
    return { caged, results: JSON.parse(caged.output) as Record<string, unknown> };
  })();
  runs.set(key, ran);
  return ran;
}

const USERS = [
  { user: "root or whoever runs the tests", isSomebody: false },
  { user: "an ordinary user", isSomebody: true },
] as const;

describe.each(VARIANTS)("with $guard made by $bind", { ...needs(obstacle), concurrent: true }, ({ guard, bind }) => {
  describe.each(USERS)("as $user", ({ isSomebody }) => {
    const rows = [...REACHED, ...REFUSED, ...(bind === "perl" ? BY_NAME : [])];
    it.for(rows)("%s", async ([name, inside, recorded], context) => {
      if (isSomebody && closed !== null) return context.skip(`somebody else may not enter ${closed}`);
      const ran = await attack(guard, bind, isSomebody);
      if ("why" in ran) return context.skip(`the guard does not work here: ${ran.why}`);
      expect([name, ran.results[name]]).toEqual([name, inside]);
      const lines = ran.caged.connections.map(({ via, host, port, verdict }) => `${via} ${host}:${port} ${verdict}`);
      if (recorded !== null) expect(lines).toContain(recorded.replace("OTHER", origins.other));
    });

    it("every attack that was tried is judged by name", async (context) => {
      if (isSomebody && closed !== null) return context.skip(`somebody else may not enter ${closed}`);
      const ran = await attack(guard, bind, isSomebody);
      if ("why" in ran) return context.skip(`the guard does not work here: ${ran.why}`);
      const judged = [...REACHED, ...REFUSED, ...BY_NAME].map(([name]) => name);
      expect(Object.keys(ran.results).sort()).toEqual(judged.sort());
    });

    it("nothing reached what is not listed, and nothing of the relay is left", async (context) => {
      if (isSomebody && closed !== null) return context.skip(`somebody else may not enter ${closed}`);
      const ran = await attack(guard, bind, isSomebody);
      if ("why" in ran) return context.skip(`the guard does not work here: ${ran.why}`);
      expect(origins.reached).toEqual([]);
      expect(ran.caged).toMatchObject({ exit_code: 0, orphans: 0, lost: false });
    });
  });
});

describe("a relay", { ...needs(obstacle), concurrent: true }, () => {
  const cage = async (
    network: "allow" | "none",
    command: readonly string[],
    server?: number,
    variant: (typeof VARIANTS)[number] = VARIANTS[0],
  ) => {
    const base = makeCageFolder();
    folders.push(base);
    const table = makeTable(origins);
    return await runCaged({
      ...variant,
      base,
      command,
      hosts: LISTED,
      network,
      resolve: async (name) => table[name] ?? [],
      ...(server === undefined ? {} : { server }),
    });
  };

  it.for(VARIANTS)(
    "that the command ends costs it its network, is told, and the command goes on: $guard made by $bind",
    async (variant, { expect, skip }) => {
      const tried = await attack(variant.guard, variant.bind, false);
      if ("why" in tried) return skip(`the guard does not work here: ${tried.why}`);
      const facts = JSON.stringify({ other: origins.other, abstract: origins.abstract, path: "/" });
      const ended = await cage("allow", [process.execPath, ATTACKER, facts, "the relay, ended"], undefined, variant);
      expect(ended).toMatchObject({ exit_code: 0, lost: true });
      expect(JSON.parse(ended.output)).toEqual({ "the relay, ended": "ECONNREFUSED" });
    },
  );

  it("that runs out of descriptors refuses what is too much, hangs nowhere, and works again afterwards", async ({
    expect,
  }) => {
    const base = makeCageFolder();
    folders.push(base);
    // Every connection is opened before the first is closed. What nobody can take is closed, which the client sees.
    const script = `const { connect } = require("node:net");
      const open = () => new Promise((done) => { const s = connect(3128, "127.0.0.1"); const end = (w) => done([w, s]);
        setTimeout(() => end("silence"), 20000).unref(); s.on("error", () => end("refused")); s.on("close", () => end("refused"));
        s.on("data", (b) => end(String(b).slice(9, 12))); s.write("CONNECT good.test:443 HTTP/1.1\\r\\n\\r\\n"); });
      (async () => { const all = await Promise.all(Array.from({ length: 300 }, open)); const count = {};
        for (const [w, s] of all) { count[w] = (count[w] ?? 0) + 1; s.destroy(); }
        let again = ""; for (let i = 0; i < 100 && again !== "200"; i++) { await new Promise((d) => setTimeout(d, 100)); const [w, s] = await open(); again = w; s.destroy(); }
        console.log(JSON.stringify({ count, again })); process.exit(0); })();`;
    const command = [process.execPath, "-e", script];
    const table = makeTable(origins);
    const request = { guard: "ns-overlay", bind: "perl", base, command, hosts: LISTED, network: "allow", table };
    const words = ["--nofile=192:192", process.execPath, program.file, JSON.stringify(request)];
    const { stdout } = await promisify(execFile)("prlimit", words, { env: { PATH: "/usr/bin:/bin" } });
    const { caged } = JSON.parse(stdout) as { readonly caged: Caged };
    const { count, again } = JSON.parse(caged.output) as { count: Record<string, number>; again: string };
    expect(again).toBe("200");
    expect(count["silence"]).toBeUndefined();
    expect(count["200"]).toBeGreaterThan(10);
    // 192 descriptors are not enough for 300 connections, each with two ends.
    expect((count["refused"] ?? 0) + (count["502"] ?? 0)).toBeGreaterThan(100);
    expect(caged.lost).toBe(false);
  });

  it("waits five seconds for the greeting of a client, and no longer", async ({ expect }) => {
    const facts = JSON.stringify({ other: origins.other, abstract: origins.abstract, path: "/" });
    const { output, connections } = await cage("allow", [
      process.execPath,
      ATTACKER,
      facts,
      "half a greeting, then nothing",
    ]);
    expect(JSON.parse(output)).toEqual({ "half a greeting, then nothing": "closed" });
    expect(connections).toMatchObject([{ host: "good.test", verdict: "no_tls_name", address: origins.good }]);
  });

  it("passes the run's own server on with no other network, and nothing else", async ({ expect }) => {
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => response.end(`own ${request.url}`));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const port = (server.address() as { readonly port: number }).port;
    const script = `fetch(process.env.OWN_SERVER).then((r) => r.text()).then(console.log)
      .then(() => fetch("http://127.0.0.1:3128/")).catch((e) => console.log(e.cause.code))`;
    const { output, connections } = await cage("none", [process.execPath, "-e", script], port);
    server.close();
    expect(output).toBe("own /own\nECONNREFUSED\n");
    expect(connections).toEqual([]);
  });
});
