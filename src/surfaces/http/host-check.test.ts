import { hostname, networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { allowedHosts, isLoopback, requireOwnHost, requireOwnSite } from "./host-check.ts";

const refusedAt = (where: string) => expect.objectContaining({ code: "HOST_REFUSED", where });

describe("names a server may be called by", () => {
  it("are those of this machine alone where only this machine can reach it", () => {
    for (const host of ["127.0.0.1", "::1", "localhost"]) {
      expect(isLoopback(host)).toBe(true);
      expect([...allowedHosts(host)]).toEqual(["127.0.0.1", "localhost", "[::1]"]);
    }
    expect(isLoopback("192.0.2.1")).toBe(false);
  });

  it("are its address and the loopback names where it listens on one address", () => {
    expect([...allowedHosts("192.0.2.1")]).toEqual(["192.0.2.1", "localhost", "127.0.0.1"]);
  });

  it.each(["0.0.0.0", "::"])("are every address of this machine and its name where it listens on %s", (host) => {
    const allowed = allowedHosts(host);
    for (const name of [hostname().toLowerCase(), "localhost", "127.0.0.1", "[::1]"]) expect(allowed).toContain(name);
    for (const { address, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      expect(allowed).toContain(family === "IPv6" ? `[${address}]` : address);
    }
    expect(allowed.has(host)).toBe(false);
  });
});

describe("a request", () => {
  const allowed = new Set(["localhost", "[::1]"]);

  it.each(["localhost", "localhost:8080", "LOCALHOST:1", "[::1]", "[::1]:8080"])("may be meant for %s", (host) => {
    expect(() => requireOwnHost(host, undefined, allowed)).not.toThrow();
    expect(() => requireOwnHost(host, `http://${host}`, allowed)).not.toThrow();
    expect(() => requireOwnHost(host, `HTTPS://${host.toUpperCase()}`, allowed)).not.toThrow();
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
