import { expect, it } from "vitest";
import type { RoomPorts } from "../operations/ports.ts";
import { examine } from "./doctor.ts";

/** A machine whose landlock has a version, on which nothing ever ran. */
function machine(abi: number | null): RoomPorts {
  return {
    guards: { probe: async () => ({ landlock: "ok", audit: "ok" }), landlockAbi: () => abi },
    host: { platform: "linux" },
    places: () => ({ root: "/r", state: "/r/.verbatim/state", user_state: "/u", config: {} }),
    disk: { list: () => null, fileSystem: () => null },
    user_work: "/u/work",
  } as unknown as RoomPorts;
}

it.each([
  [2, ["chmod", "chown", "times", "xattr", "truncate"]],
  [3, ["chmod", "chown", "times", "xattr"]],
])("tells what landlock of version %s cannot deny", async (abi, gaps) => {
  const { guards } = await examine(machine(abi));
  expect(guards.find(({ name }) => name === "landlock")).toMatchObject({ works: true, gaps });
});
