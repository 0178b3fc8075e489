import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAbsoluteTarget, readAuthority, readSocksGreeting, readSocksRequest } from "./proxy-requests.ts";

describe("a request to a proxy", () => {
  it.each([
    ["a.example:443", { host: "a.example", port: 443 }],
    ["[::1]:443", { host: "[::1]", port: 443 }],
    ["u@a.example:1", { host: "u@a.example", port: 1 }],
    ["a.example", null],
    [":443", null],
    ["a.example:", null],
    ["a.example:0", null],
    ["a.example:65536", null],
    ["a.example:0443", null],
    ["a.example:4 3", null],
  ])("by CONNECT %j", (text, target) => expect(readAuthority(text)).toEqual(target));

  it.each([
    ["http://a.example", { host: "a.example", port: 80, path: "/" }],
    ["HTTP://a.example/b?c", { host: "a.example", port: 80, path: "/b?c" }],
    ["http://a.example:8080?c", { host: "a.example", port: 8080, path: "/?c" }],
    ["http://a.example\\@b.example/", { host: "a.example\\@b.example", port: 80, path: "/" }],
    ["http://[::1]/", { host: "[::1]", port: 80, path: "/" }],
    ["http://u:p@a.example:80/", { host: "u:p@a.example", port: 80, path: "/" }],
    ["http://a.example/#b", null],
    ["http://a.example/ b", null],
    ["https://a.example/", null],
    ["//a.example/", null],
    ["/", null],
    ["*", null],
    ["http:///", null],
    ["http://a.example:x/", null],
  ])("in absolute form %j", (text, target) => expect(readAbsoluteTarget(text)).toEqual(target));

  it("by SOCKS is read byte by byte", () => {
    const greeting = Uint8Array.from([5, 2, 2, 0]);
    expect(readSocksGreeting(greeting)).toEqual({ kind: "greeting", used: 4, open: true });
    expect(readSocksGreeting(Uint8Array.from([5, 1, 2]))).toEqual({ kind: "greeting", used: 3, open: false });
    const request = Uint8Array.from([5, 1, 0, 3, 3, 97, 46, 98, 1, 187, 99]);
    expect(readSocksRequest(request)).toEqual({ kind: "name", used: 10, target: { host: "a.b", port: 443 } });
    for (let end = 0; end < 10; end++) expect(readSocksRequest(request.subarray(0, end)).kind).toBe("more");
    expect(readSocksRequest(Uint8Array.from([5, 1, 0, 1, 1, 2, 3, 4, 0, 80]))).toMatchObject({ kind: "literal" });
    expect(readSocksRequest(Uint8Array.from([5, 3, 0, 1, 1, 2, 3, 4, 0, 80]))).toMatchObject({ kind: "other" });
    expect(readSocksRequest(Uint8Array.from([4, 1])).kind).toBe("bad");
    expect(readSocksRequest(Uint8Array.from([5, 1, 0, 9])).kind).toBe("bad");
  });

  it("is answered whatever it is", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 60 }), (bytes, text) => {
        const read = readSocksRequest(bytes);
        if ("used" in read) expect(read.used).toBeLessThanOrEqual(bytes.length);
        const greeting = readSocksGreeting(bytes);
        if ("used" in greeting) expect(greeting.used).toBeLessThanOrEqual(bytes.length);
        const target = readAbsoluteTarget(`http://${text}`);
        if (target !== null) expect(target.path).toMatch(/^\/[\x21-\x7e]*$/);
        const authority = readAuthority(text);
        if (authority !== null) expect(`${authority.host}:${authority.port}`).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });
});
