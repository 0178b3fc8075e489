import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPublicAddress, parseAddress } from "./addresses.ts";

describe("an address", () => {
  it.each([
    ["8.8.8.8"],
    ["172.15.255.255"],
    ["172.32.0.1"],
    ["100.63.255.255"],
    ["100.128.0.1"],
    ["198.17.255.255"],
    ["223.255.255.255"],
    ["2606:4700::1111"],
    ["2a00:1450:4001:81b::200e"],
    ["2001:200::1"],
  ])("%s is public", (text) => expect(isPublicAddress(text)).toBe(true));

  it.each([
    ["0.0.0.0"],
    ["10.1.2.3"],
    ["100.64.0.1"],
    ["100.127.255.255"],
    ["127.0.0.1"],
    ["127.64.0.1"],
    ["169.254.169.254"],
    ["172.16.0.1"],
    ["172.31.255.255"],
    ["192.0.0.8"],
    ["192.0.2.1"],
    ["192.88.99.1"],
    ["192.168.1.1"],
    ["198.18.0.1"],
    ["198.19.255.255"],
    ["198.51.100.7"],
    ["203.0.113.7"],
    ["224.0.0.1"],
    ["240.0.0.1"],
    ["255.255.255.255"],
    ["::"],
    ["::1"],
    ["::8.8.8.8"],
    ["::ffff:8.8.8.8"],
    ["::ffff:808:808"],
    ["64:ff9b::8.8.8.8"],
    ["64:ff9b:1::1"],
    ["100::1"],
    ["2001::1"],
    ["2001:20::1"],
    ["2001:db8::1"],
    ["2002:808:808::1"],
    ["3fff::1"],
    ["fc00::1"],
    ["fd12:3456::1"],
    ["fe80::1"],
    ["fe80::1%eth0"],
    ["fec0::1"],
    ["ff02::1"],
    [""],
    ["8.8.8"],
    ["08.8.8.8"],
    ["0x8.8.8.8"],
    ["8.8.8.8.8"],
    ["8.8.8.256"],
    ["2606:4700:::1"],
    ["2606:4700"],
    ["localhost"],
  ])("%j is not public", (text) => expect(isPublicAddress(text)).toBe(false));

  it("is read exactly where Node reads one", () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.ipV4Extended(),
      fc.string({ unit: fc.constantFrom(..."0123456789abcdef:.x%".split("")), maxLength: 24 }),
    );
    fc.assert(
      fc.property(text, (one) => {
        const kind = one.includes("%") ? 0 : isIP(one);
        expect(parseAddress(one)?.length ?? 0).toBe(kind === 4 ? 4 : kind === 6 ? 16 : 0);
      }),
      { numRuns: 2000 },
    );
  });
});
