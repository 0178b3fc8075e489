import { executionAsyncResource } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { TransactionGuard, TransactionKeeper } from "./transaction-guard.ts";

const REFUSED = "read, transact or close was called inside another read or transact of the same store";

/** How many things travel with the promises of the caller. */
const countTravelling = () => Object.getOwnPropertySymbols(executionAsyncResource()).length;

describe("a transaction", () => {
  it("is refused inside an open one of the same store, also through one of another store", async () => {
    const [shop, harbour] = [new TransactionKeeper(), new TransactionKeeper()];
    await shop.enter(new TransactionGuard(), async () => {
      expect(() => shop.requireOutside()).toThrow(REFUSED);
      harbour.requireOutside();
      await harbour.enter(new TransactionGuard(), async () => {
        await Promise.resolve();
        expect(() => shop.requireOutside()).toThrow(REFUSED);
        expect(() => harbour.requireOutside()).toThrow(REFUSED);
      });
      harbour.requireOutside();
    });
    shop.requireOutside();
  });

  it("may be opened by what was started inside one that has ended since", async () => {
    const [shop, harbour] = [new TransactionKeeper(), new TransactionKeeper()];
    const [first, second] = [new TransactionGuard(), new TransactionGuard()];
    await shop.enter(first, async () => {
      await harbour.enter(second, async () => {
        first.end();
        shop.requireOutside();
        await shop.enter(new TransactionGuard(), async () => {
          expect(() => harbour.requireOutside()).toThrow(REFUSED);
          second.end();
          harbour.requireOutside();
        });
      });
    });
  });

  it("makes promises no slower with every store that was ever opened", async () => {
    const inside = () => new TransactionKeeper().enter(new TransactionGuard(), async () => countTravelling());
    const first = await inside();
    for (let i = 0; i < 5; i++) expect(await inside()).toBe(first);
  });
});
