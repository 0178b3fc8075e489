import { totalmem } from "node:os";
import { expect, it } from "vitest";
import { withDefaults } from "../../../core/contracts/config/index.ts";
import { describeHeld, describeHit, planCaps } from "./caps.ts";

const plan = (caps: object, flags: Parameters<typeof planCaps>[1] = {}, most: readonly ("memory" | "disk")[] = []) => {
  const config = withDefaults({ agent: { caps } });
  return planCaps({ config: () => ({ ...config, agent: { ...config.agent, caps_at_most: most } }) }, flags);
};

it("takes the flag, else the configuration, else four fifths of the memory, 2048 processes and 20 GB", () => {
  const memory = Math.floor(totalmem() * 0.8);
  expect(plan({})).toEqual({ memory, processes: 2048, disk: 20_000_000_000 });
  expect(plan({ memory: "1G", processes: 64, disk: 3_000_000 })).toEqual({
    memory: 1024 ** 3,
    processes: 64,
    disk: 3_000_000,
  });
  expect(plan({ memory: "1G", disk: "30GB" }, { memory: "2GB", processes: 9, disk: "40GB" })).toEqual({
    memory: 2_000_000_000,
    processes: 9,
    disk: 40_000_000_000,
  });
});

it("does not let a repository alone raise what everybody gets", () => {
  expect(plan({ disk: "30GB", memory: "999999GB" }, {}, ["disk", "memory"])).toMatchObject({
    memory: Math.floor(totalmem() * 0.8),
    disk: 20_000_000_000,
  });
  expect(plan({ disk: "3GB" }, {}, ["disk"]).disk).toBe(3_000_000_000);
});

it.each([
  [{ memory: "lots" }, "--memory must be a size like 500kB, 2MiB or 1048576"],
  [{ memory: "15MiB" }, "--memory is too little for any command: at least 16.8 MB"],
  [{ processes: 3 }, "--processes is too little for any command: at least 8"],
  [{ disk: "1kB" }, "--disk is too little for any command: at least 1.0 MB"],
])("refuses %j", (flags, message) => {
  expect(() => plan({}, flags)).toThrow(
    expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) }),
  );
});

it("refuses a configured cap under which nothing runs, and says where", () => {
  expect(() => plan({ memory: "1M" })).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID", where: "verbatim.config.json /agent/caps/memory" }),
  );
});

it("says what was too much with its numbers", () => {
  expect(describeHit({ cap: "memory", limit: 2_000_000_000, used: 2_500_000_000 })).toBe(
    "the agent used more memory than the 2.0 GB it was allowed (--memory); 2.5 GB when it was noticed",
  );
  expect(describeHit({ cap: "processes", limit: 2048, used: 2048 }, "the verify commands")).toBe(
    "the verify commands used more processes than the 2,048 processes it was allowed (--processes)",
  );
});

it("says which limits no kernel holds", () => {
  expect(describeHeld({ memory: "cgroup2", processes: "rlimit", disk: "watch" })).toEqual([]);
  expect(describeHeld({ memory: "watch", processes: "watch", disk: "watch" })).toEqual([
    "memory limit watched, not enforced by the kernel",
    "processes limit watched, not enforced by the kernel",
  ]);
  expect(describeHeld({ memory: "none", processes: "none", disk: "watch" })[0]).toBe(
    "! memory limit: nothing on this system sees to it",
  );
});
