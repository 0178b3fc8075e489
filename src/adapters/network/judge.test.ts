import { describe, expect, it, onTestFinished, vi } from "vitest";
import { judgeTarget } from "./judge.ts";

// Nothing is connected here, so the answers may be any addresses.
const PUBLIC = { host: "a.example", port: 443, private: false };
const judge = (addresses: readonly string[], isPrivate = false) =>
  judgeTarget({ host: "A.example.", port: 443 }, [{ ...PUBLIC, private: isPrivate }], async () => addresses);

describe("a listed name", () => {
  it("is connected at the very addresses that were looked at", async () => {
    const addresses = ["8.8.8.8", "2606:4700::1111"];
    expect(await judge(addresses)).toEqual({ verdict: "allowed", name: "a.example", addresses });
  });

  it.each([
    ["a metadata address as the second answer", ["8.8.8.8", "169.254.169.254"]],
    ["a mapped address", ["8.8.8.8", "::ffff:8.8.8.8"]],
    ["loopback as the last answer", ["8.8.8.8", "2606:4700::1111", "::1"]],
    ["something that is not an address", ["8.8.8.8", "localhost"]],
  ])("is refused with %s, unless its entry allows that", async (_, addresses) => {
    expect((await judge(addresses)).verdict).toBe("private_address");
    expect((await judge(addresses, true)).verdict).toBe("allowed");
  });

  it("that does not resolve, or whose name service fails, is unresolved", async () => {
    expect((await judge([])).verdict).toBe("unresolved");
    const failing = judgeTarget({ host: "a.example", port: 443 }, [PUBLIC], () =>
      Promise.reject(new Error("EAI_AGAIN")),
    );
    expect((await failing).verdict).toBe("unresolved");
  });
});

it("does not wait for a name service that never answers: nothing was found", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const judged = judgeTarget({ host: "a.example", port: 443 }, [PUBLIC], () => {
    asked++;
    return new Promise(() => undefined);
  });
  await vi.advanceTimersByTimeAsync(9_999);
  await expect(Promise.race([judged, Promise.resolve("waiting")])).resolves.toBe("waiting");
  await vi.advanceTimersByTimeAsync(1);
  expect([await judged, asked]).toEqual([{ verdict: "unresolved", name: "a.example" }, 1]);
});
