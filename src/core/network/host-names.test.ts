import { describe, expect, it } from "vitest";
import { findEntry, formatHostEntry, type HostEntry, parseHostEntry, readHostName } from "./host-names.ts";

describe("the name of a host", () => {
  it.each([
    ["api.example.org", "api.example.org"],
    ["API.Example.ORG.", "api.example.org"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["a-b.c9", "a-b.c9"],
    ["1.2.3.4.example", "1.2.3.4.example"],
    ["localhost", "localhost"],
  ])("is read from %j", (text, name) => expect(readHostName(text)).toEqual({ name }));

  it.each([
    ["127.0.0.1"],
    ["127.0.0.1."],
    ["2130706433"],
    ["0x7f000001"],
    ["0x7f.1"],
    ["0177.0.0.01"],
    ["127.1"],
    ["1.2.3.4.5"],
    ["a.0x"],
    ["[::1]"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["fe80::1"],
  ])("is not %j, which is an address", (text) => {
    expect(readHostName(text)).toEqual({ name: null, problem: "literal_address" });
  });

  it.each([
    [""],
    ["."],
    ["a..b"],
    ["a.b.."],
    [".a"],
    ["-a.b"],
    ["a-.b"],
    ["a_b.c"],
    ["*.a.b"],
    ["a b"],
    ["a\0.b"],
    ["a%2eb"],
    ["user@a.b"],
    ["a.b#c"],
    ["a.b/c"],
    ["a.b\\c"],
    ["ａ.b"],
    ["a。b"],
    ["bücher.example"],
    [`${"a".repeat(64)}.b`],
    [`${"a.".repeat(127)}b`],
  ])("is not %j", (text) => expect(readHostName(text)).toEqual({ name: null, problem: "bad_name" }));
});

describe("an entry of the list", () => {
  it.each([
    ["a.example", { host: "a.example", port: 443 }],
    ["A.Example.:8443", { host: "a.example", port: 8443 }],
    ["*.a.example", { host: "*.a.example", port: 443 }],
    ["*.a.example:80", { host: "*.a.example", port: 80 }],
  ])("is read from %j", (text, entry) => expect(parseHostEntry(text)).toEqual(entry));

  it.each([
    ["*"],
    ["*.*.a"],
    ["a.*"],
    ["a:0"],
    ["a:65536"],
    ["a:"],
    ["127.0.0.1"],
    ["[::1]:443"],
    ["http://a.b"],
    [""],
  ])("is not %j", (text) => expect(parseHostEntry(text)).toBeNull());

  it("is written as it is read", () => {
    expect(["a.example", "*.a.example:80"].map((text) => formatHostEntry(parseHostEntry(text)!))).toEqual([
      "a.example",
      "*.a.example:80",
    ]);
  });

  const entry = (host: string, port = 443, isPrivate = false): HostEntry => ({ host, port, private: isPrivate });

  it.each([
    ["a.example", 443, true],
    ["a.example", 80, false],
    ["b.a.example", 443, false],
    ["aa.example", 443, false],
    ["a.example.org", 443, false],
    ["x.wild.example", 443, true],
    ["y.x.wild.example", 443, true],
    ["wild.example", 443, false],
    ["notwild.example", 443, false],
    ["x.wild.example.org", 443, false],
  ])("lists %s:%i: %s", (name, port, isListed) => {
    const found = findEntry([entry("a.example"), entry("*.wild.example")], name, port);
    expect(found !== null).toBe(isListed);
  });

  it("that allows private addresses goes before one that does not", () => {
    expect(findEntry([entry("*.b.c"), entry("a.b.c", 443, true)], "a.b.c", 443)?.private).toBe(true);
  });
});
