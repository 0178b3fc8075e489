import { hostname, networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { isLoopback, ownNames, reachableHost, requireOwnHost, requireOwnSite } from "./host-check.ts";

const refusedAt = (where: string) => expect.objectContaining({ code: "HOST_REFUSED", where });

describe("names a server may be called by", () => {
  it("are those of this machine alone where only this machine can reach it", () => {
    for (const host of ["127.0.0.1", "::1", "localhost"]) {
      expect(isLoopback(host)).toBe(true);
      expect([...ownNames({ host }).hosts]).toEqual(["127.0.0.1", "localhost", "[::1]"]);
    }
    expect([...ownNames({ host: "127.0.0.9" }).hosts]).toContain("127.0.0.9");
    for (const host of ["192.0.2.1", "127.0.0.1.example.org", "127.evil", "x127.0.0.1", "0.0.0.0"]) {
      expect([host, isLoopback(host)]).toEqual([host, false]);
    }
  });

  it("are its address and the loopback names where it listens on one address", () => {
    expect([...ownNames({ host: "192.0.2.1" }).hosts]).toEqual(["192.0.2.1", "localhost", "127.0.0.1"]);
    expect([...ownNames({ host: "2001:db8::1" }).hosts]).toEqual(["[2001:db8::1]", "localhost", "127.0.0.1"]);
    expect([...ownNames({ host: "Studio.Example.org" }).hosts]).toContain("studio.example.org");
  });

  it("and where it listens on one address, that one is told to others", () => {
    for (const host of ["192.0.2.1", "127.0.0.1", "2001:db8::1"]) expect(reachableHost(host)).toBe(host);
  });

  it.each(["0.0.0.0", "::"])("and where it listens on %s, one that others can reach, if there is one", (host) => {
    const reachable = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address }) => address);
    expect(reachable.length === 0 ? ["127.0.0.1"] : reachable).toContain(reachableHost(host));
  });

  it.each(["0.0.0.0", "::"])("are every address of this machine and its name where it listens on %s", (host) => {
    const allowed = ownNames({ host }).hosts;
    for (const name of [hostname().toLowerCase(), "localhost", "127.0.0.1", "[::1]"]) expect(allowed).toContain(name);
    for (const { address, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      expect(allowed).toContain(family === "IPv6" ? `[${address}]` : address);
    }
    expect(allowed.has(host)).toBe(false);
    // The address that is printed is one that is answered.
    expect(allowed).toContain(reachableHost(host));
  });

  it("are the public one besides, and that one alone where the way behind the proxy is in the clear", () => {
    const publicUrl = new URL("https://studio.example.org");
    expect([...ownNames({ host: "127.0.0.1", publicUrl }).hosts]).toEqual([
      "127.0.0.1",
      "localhost",
      "[::1]",
      "studio.example.org",
    ]);
    expect([...ownNames({ host: "192.0.2.1", publicUrl }).hosts]).toEqual(["studio.example.org"]);
    // Over TLS of its own the way is not in the clear, and where only this machine can reach it nobody else listens.
    const names = ["192.0.2.1", "localhost", "127.0.0.1", "studio.example.org"];
    expect([...ownNames({ host: "192.0.2.1", publicUrl, tls: {} }).hosts]).toEqual(names);
    expect(ownNames({ host: "192.0.2.1", publicUrl, tls: {} }).scheme).toBe("https");
    expect(ownNames({ host: "192.0.2.1", publicUrl }).scheme).toBe("http");
    const plain = new URL("http://studio.example.org");
    expect([...ownNames({ host: "192.0.2.1", publicUrl: plain }).hosts]).toContain("192.0.2.1");
  });
});

describe("a request", () => {
  const hosts = new Set(["localhost", "[::1]"]);
  const allowed = { hosts, scheme: "http", publicUrl: null } as const;

  it.each(["localhost", "localhost:8080", "LOCALHOST:1", "[::1]", "[::1]:8080"])("may be meant for %s", (host) => {
    expect(() => requireOwnHost(host, undefined, allowed)).not.toThrow();
    expect(() => requireOwnHost(host, `http://${host}`, allowed)).not.toThrow();
    expect(() => requireOwnHost(host, `HTTP://${host.toUpperCase()}`, allowed)).not.toThrow();
    expect(() => requireOwnHost(host, `https://${host}`, { ...allowed, scheme: "https" })).not.toThrow();
    // The same name over the other scheme is another place.
    expect(() => requireOwnHost(host, `https://${host}`, allowed)).toThrow(refusedAt("Origin"));
    expect(() => requireOwnHost(host, `http://${host}`, { ...allowed, scheme: "https" })).toThrow(refusedAt("Origin"));
  });

  it("may come from the page of the public address, whatever the proxy calls the server", () => {
    const publicUrl = new URL("https://studio.example.org:8443");
    const behind = { ...allowed, hosts: new Set([...hosts, "studio.example.org"]), publicUrl };
    for (const host of ["localhost:8080", "studio.example.org:8443", "studio.example.org"]) {
      expect(() => requireOwnHost(host, "https://studio.example.org:8443", behind)).not.toThrow();
      for (const origin of ["https://studio.example.org", "http://studio.example.org:8443", "https://example.org"]) {
        expect(() => requireOwnHost(host, origin, behind)).toThrow(refusedAt("Origin"));
      }
    }
    expect(() => requireOwnHost("studio.example.org", "http://studio.example.org", behind)).toThrow(
      refusedAt("Origin"),
    );
    expect(() => requireOwnHost("studio.example.org", "https://studio.example.org", allowed)).toThrow(
      refusedAt("Host"),
    );
  });

  it.each([undefined, "", "evil.example", "localhost.evil.example", "localhost:80x", "localhost:", "xlocalhost"])(
    "may not be meant for %s",
    (host) => {
      expect(() => requireOwnHost(host, undefined, allowed)).toThrow(refusedAt("Host"));
    },
  );

  it.each([
    "http://evil.example",
    "http://localhost",
    "http://localhost:80801",
    "https://localhost:8080.evil.example",
    "ftp://localhost:8080",
    "localhost:8080",
    "null",
    "",
  ])("may not come from a page of %s", (origin) => {
    expect(() => requireOwnHost("localhost:8080", origin, allowed)).toThrow(refusedAt("Origin"));
  });

  it("comes from our own page, was typed in, or says nothing about a site", () => {
    for (const site of [undefined, "same-origin", "none"]) expect(() => requireOwnSite(site)).not.toThrow();
    for (const site of ["cross-site", "same-site", "", "Same-Origin"]) {
      expect(() => requireOwnSite(site)).toThrow(refusedAt("Sec-Fetch-Site"));
    }
  });
});
