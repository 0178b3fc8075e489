import { describe, expect, it } from "vitest";
import { Semaphore } from "./semaphore.ts";

describe("turns", () => {
  it("are given at once while places are free", () => {
    const turns = new Semaphore(2);
    expect(turns.take()).toBeUndefined();
    expect(turns.take()).toBeUndefined();
    expect(turns.take()).toBeInstanceOf(Promise);
  });

  it("go to whoever has waited longest", async () => {
    const turns = new Semaphore(1);
    void turns.take();
    const order: string[] = [];
    const waiting = ["first", "second", "third"].map(async (name) => {
      await turns.take();
      order.push(name);
      turns.give();
    });
    turns.give();
    await Promise.all(waiting);
    expect(order).toEqual(["first", "second", "third"]);
  });

  it("are idle only when every place was given back", async () => {
    const turns = new Semaphore(2);
    void turns.take();
    void turns.take();
    let idle = false;
    const waiting = turns.idle().then(() => {
      idle = true;
    });
    turns.give();
    await Promise.resolve();
    expect(idle).toBe(false);
    turns.give();
    await waiting;
    expect(idle).toBe(true);
  });
});
