// Which run a name means, and who may use it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { VerbatimError } from "../../../../core/errors/index.ts";
import { findOwnRun, findRun, requireOwn, requireSteps } from "./find-run.ts";

let bare: BareRuns;
let settled: number;
beforeEach(async () => {
  bare = await openBareRuns();
  settled = 0;
});
afterEach(() => bare.remove());

const refusal = (code: string, more: object = {}) => expect.objectContaining({ code, ...more }) as Error;
const open = () => {
  const { identity } = bare.ports;
  return { ...bare.ports, identity: { ...identity, settle: () => (settled++, identity.settle()) } };
};
/** A run that another repository made. */
const elsewhere = () => bare.make("away", { repo_root: "/elsewhere", repo_id: "1".repeat(32) });
const AGENT = { verify: [], files: [], leave_out: [], policed: false } as const;

describe("without a name", () => {
  it("there must be one open run, and only one", () => {
    expect(() => findRun(bare.ports, undefined)).toThrow(
      refusal("RUN_NOT_FOUND", { message: "this repository has no open run" }),
    );
    bare.make("one");
    expect(findRun(bare.ports, undefined).id).toBe("one");
    bare.make("two");
    expect(() => findRun(bare.ports, undefined)).toThrow(
      refusal("RUN_AMBIGUOUS", { details: { runs: ["one", "two"] } }),
    );
  });

  it.each([
    ["passed", { status: "pass" }],
    ["was stopped", { status: "fail", stop_reason: "ABORTED" }],
    ["belongs to an agent", { direct: AGENT }],
  ] as const)("one that %s is not open", (_, state) => {
    bare.make("other", state);
    expect(() => findRun(bare.ports, undefined)).toThrow(refusal("RUN_NOT_FOUND"));
    bare.make("one", { status: "blocked" });
    expect(findRun(bare.ports, undefined).id).toBe("one");
  });
});

describe("with a name", () => {
  it("the run itself comes before others that begin like it", () => {
    bare.make("one");
    bare.make("one-more");
    expect(findRun(bare.ports, "one").id).toBe("one");
    expect(findRun(bare.ports, "one-").id).toBe("one-more");
    expect(() => findRun(bare.ports, "on")).toThrow(refusal("RUN_AMBIGUOUS"));
  });

  it.each([".", "..", "none", "./none", "a/b"])("nothing is found as %s", (name) => {
    bare.make("one");
    expect(() => findRun(bare.ports, name)).toThrow(refusal("RUN_NOT_FOUND"));
  });

  it("a run is found by its folder, and a folder that is not one is refused", () => {
    const run = bare.make("one");
    expect(findRun(bare.ports, run.folder.dir).id).toBe("one");
    run.folder.remove("RUN.json");
    expect(() => findRun(bare.ports, run.folder.dir)).toThrow(refusal("RUN_NOT_FOUND"));
  });

  it("a run that cannot be read stands in the way of no other, and is refused where it is meant", () => {
    bare.make("broken").folder.write("RUN.json", "{");
    bare.make("one");
    expect(findRun(bare.ports, "on").id).toBe("one");
    expect(() => findRun(bare.ports, "bro")).toThrow(refusal("RUN_CORRUPT"));
  });

  it("a run comes before a folder of that name in the directory one is in", () => {
    const other = bare.make("other");
    bare.make("one");
    const runs = { ...bare.runs, openPath: () => other.folder };
    expect(findRun({ ...bare.ports, runs }, "one").id).toBe("one");
    for (const name of [".", "..", "./one", "a\\one"]) expect(findRun({ ...bare.ports, runs }, name).id).toBe("other");
  });

  it.each([new RangeError("broken"), new VerbatimError("DISK_FULL")])(
    "the error %s is not taken for a run that cannot be read",
    (error) => {
      for (const id of ["one", "two"]) bare.make(id);
      const read = () => {
        throw error;
      };
      const open = (id: string) => (id === "one" ? ({ read } as never) : bare.runs.open(id));
      expect(() => findRun({ ...bare.ports, runs: { ...bare.runs, open } }, "tw")).toThrow(error);
    },
  );
});

describe("a run of another repository", () => {
  it("can be looked at by its folder, and is refused to whoever would change it", () => {
    const { dir } = elsewhere().folder;
    expect(findRun(bare.ports, dir).id).toBe("away");
    expect(() => findOwnRun(bare.ports, dir)).toThrow(
      refusal("RUN_OTHER_REPO", {
        where: dir,
        fix: 'Use it where it was created: verbatim -C "/elsewhere" ...',
        details: { repo_root: "/elsewhere", repo_id: "1".repeat(32) },
      }),
    );
  });

  it("names the flag that would use it here, and is not noted as moved", () => {
    const run = findRun(open(), elsewhere().folder.dir);
    expect(() => requireOwn(run, "--here")).toThrow(
      refusal("RUN_OTHER_REPO", { fix: expect.stringContaining(", or in this work tree: add --here") as string }),
    );
    expect(settled).toBe(0);
  });

  it("is none where the ids are the same, and then the place is noted", () => {
    bare.make("one");
    expect(findOwnRun(open(), "one").id).toBe("one");
    expect(settled).toBe(1);
    const ports = open();
    const nowhere = { ...ports, identity: { ...ports.identity, current: () => null } };
    expect(findOwnRun(nowhere, "one").id).toBe("one");
    expect(settled).toBe(1);
  });
});

describe("a run of verbatim agent", () => {
  it("is moved on by its own verbs alone", () => {
    expect(() => requireSteps(bare.make("agent", { direct: AGENT }), "apply")).toThrow(
      refusal("RUN_OF_AGENT", { fix: "Use: verbatim agent apply agent" }),
    );
    const { policed: _, ...direct } = AGENT;
    expect(requireSteps(bare.make("direct", { direct }), "apply")).toBeUndefined();
    expect(requireSteps(bare.make("plain"), "apply")).toBeUndefined();
  });
});
