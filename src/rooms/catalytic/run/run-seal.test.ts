import { expect, it } from "vitest";
import type { GuardName } from "../../../core/contracts/guards.ts";
import type { Layer } from "../ports.ts";
import { isRecord, toAnchors } from "./run-seal.ts";

const places = { root: "/r", work: "/w", record_path: "runs/run-1" };
const layers = { domains: [{}, {}], anchors: ["out", "dist"], copyOf: (index: number) => `/w/cp${index}` };

it.each<[GuardName, object[]]>([
  [
    "ns-overlay",
    [
      { path: "out", before: "/r/out", after: "2 overlay /r/out" },
      { path: "dist", before: "/r/dist", after: "3 overlay /r/dist" },
    ],
  ],
  [
    "ns-bind",
    [
      { path: "out", before: "/r/out", after: "2 copy /r/out" },
      { path: "dist", before: "/r/dist", after: "3 copy /r/dist" },
    ],
  ],
  [
    "audit",
    [
      { path: "out", before: "/w/cp2", after: "/r/out" },
      { path: "dist", before: "/w/cp3", after: "/r/dist" },
    ],
  ],
])("under %s each anchor is where the guard keeps it", (guard, expected) => {
  const running = { merged: ({ index, kind, path }: Layer) => `${index} ${kind} ${path}` };
  expect(toAnchors({ places, guard } as never, layers as never, running as never)).toEqual(expected);
});

it("without a command each anchor is the real one", () => {
  expect(toAnchors({ places, guard: "ns-bind" } as never, layers as never, null)[0]).toMatchObject({ after: "/r/out" });
});

it("a path is of a record when it is below a run, this one or an earlier", () => {
  const is = (path: string, record_path: string | null = "runs/run-1") =>
    isRecord({ declared: { runs: ["runs/old"] }, places: { record_path } } as never, path);
  expect([is("runs/old/PROOF.json"), is("runs/run-1"), is("runs/run-2"), is("runs/run-1", null)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
