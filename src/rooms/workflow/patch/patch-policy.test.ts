// The policy at its borders: the last number that is allowed, the first that is not, and entries however they are written.
import { describe, expect, it } from "vitest";
import {
  DEFAULT_POLICY,
  findPolicyFindings,
  listPaths,
  type PolicyInput,
  parsePolicy,
  readPolicy,
} from "./patch-policy.ts";
import type { PatchOperation, PatchSection } from "./patch-section.ts";

const section = (
  new_path: string,
  added = 1,
  operation: PatchOperation = "modify",
  old_path = new_path,
): PatchSection => ({
  operation,
  old_path,
  new_path,
  old_mode: null,
  new_mode: null,
  index_mode: null,
  added,
  deleted: 0,
  line: 1,
});
const open = { allow_roots: ["."], deny_prefixes: [], deny_suffixes: [], max_files: 2, max_added_lines: 10 };

function find(sections: readonly PatchSection[], more: Partial<PolicyInput> = {}) {
  const found = findPolicyFindings({ sections, size: 100, policy: open, scope: null, planLimits: null, ...more });
  return found.map(({ rule, path }) => (path === undefined ? rule : `${rule} ${path}`));
}

describe("the numbers of a policy", () => {
  it("count files, both sides of a rename, up to the last that is allowed", () => {
    expect(find([section("a"), section("b")])).toEqual([]);
    expect(find([section("a"), section("b"), section("c")])).toEqual(["max_files"]);
    expect(find([section("a"), section("b", 0, "rename", "c")])).toEqual(["max_files"]);
    expect(find([section("a"), section("b", 0, "copy", "c")])).toEqual([]);
  });

  it("take the smaller of the policy and the plan", () => {
    const two = [section("a"), section("b")];
    expect(find(two, { planLimits: { max_files: 1, max_total_bytes: 100 } })).toEqual(["max_files"]);
    expect(find(two, { planLimits: { max_files: 9, max_total_bytes: 100 } })).toEqual([]);
    expect(find([...two, section("c")], { planLimits: { max_files: 9, max_total_bytes: 100 } })).toEqual(["max_files"]);
  });

  it("count added lines over all sections", () => {
    expect(find([section("a", 4), section("b", 6)])).toEqual([]);
    expect(find([section("a", 4), section("b", 7)])).toEqual(["max_added_lines"]);
  });

  it("hold the size against the plan only", () => {
    expect(find([section("a")], { planLimits: { max_files: 9, max_total_bytes: 99 } })).toEqual(["max_total_bytes"]);
    expect(find([section("a")], { planLimits: { max_files: 9, max_total_bytes: 100 } })).toEqual([]);
  });
});

describe("the lists of a policy", () => {
  it.each([
    [{ allow_roots: ["src"] }, ["allow_roots docs/a.PNG", "allow_roots lib/a"]],
    [{ allow_roots: ["docs", "lib"] }, []],
    [{ allow_roots: ["./docs/", "././lib//"] }, []],
    [{ allow_roots: ["./"] }, []],
    [{ deny_prefixes: ["./LIB/"] }, ["deny_prefixes lib/a"]],
    [{ deny_prefixes: ["li"] }, []],
    [{ deny_prefixes: ["."] }, ["deny_prefixes docs/a.PNG", "deny_prefixes lib/a"]],
    [{ deny_suffixes: [".Png"] }, ["deny_suffixes docs/a.PNG"]],
    [{ deny_suffixes: ["docs"] }, []],
  ])("%j", (more, expected) => {
    expect(find([section("docs/a.PNG"), section("lib/a")], { policy: { ...open, ...more } })).toEqual(expected);
  });

  it("are held against what a copy only reads, in the order of the paths", () => {
    const sections = [section("z/n", 0, "copy", "lib/a"), section("a")];
    const policy = { ...open, allow_roots: [] };
    expect(find(sections, { policy })).toEqual(["allow_roots a", "allow_roots lib/a", "allow_roots z/n"]);
  });

  it("deny our own names at every depth, and only when they name one of them", () => {
    const own = [section("a/.verbatim/x"), section("b/verbatim.config.json")];
    expect(find(own, { policy: { ...open, deny_prefixes: ["x", ".verbatim/"] } })).toEqual([
      "deny_prefixes a/.verbatim/x",
      "deny_prefixes b/verbatim.config.json",
    ]);
    expect(find(own, { policy: { ...open, deny_prefixes: ["x"] } })).toEqual([]);
  });
});

describe("the paths of a patch", () => {
  it("are each told once: what is changed, and what is only read", () => {
    const sections = [
      section("b", 0, "copy", "a"),
      section("c", 0, "copy", "d"),
      section("d"),
      section("f", 0, "rename", "e"),
    ];
    expect(listPaths(sections)).toEqual({ changed_paths: ["b", "c", "d", "e", "f"], read_paths: ["a"] });
  });
});

describe("a policy", () => {
  const problem = (value: unknown) => {
    try {
      return readPolicy(value as never, open, "here");
    } catch (thrown) {
      const { code, message, where, details } = thrown as Record<string, unknown>;
      return { code, message, where, details };
    }
  };

  it("replaces only the fields it gives", () => {
    expect(readPolicy(undefined)).toBe(DEFAULT_POLICY);
    expect(readPolicy(null, open)).toBe(open);
    expect(readPolicy({ allow_roots: ["src", "lib"] }, open)).toEqual({ ...open, allow_roots: ["src", "lib"] });
    expect(readPolicy({ max_files: 0, allow_roots: [] }, open)).toEqual({ ...open, max_files: 0, allow_roots: [] });
  });

  it.each([
    [[], "", "must be an object"],
    [{ maxFiles: 3 }, "/maxFiles", "is unknown"],
    [{ allow_roots: "src" }, "/allow_roots", "must be a list of non-empty texts"],
    [{ deny_prefixes: ["a", ""] }, "/deny_prefixes", "must be a list of non-empty texts"],
    [{ deny_suffixes: ["a", 1] }, "/deny_suffixes", "must be a list of non-empty texts"],
    [{ max_files: -1 }, "/max_files", "must be an integer from 0 to 2^53-1"],
    [{ max_added_lines: 1.5 }, "/max_added_lines", "must be an integer from 0 to 2^53-1"],
    [{ max_added_lines: "1" }, "/max_added_lines", "must be an integer from 0 to 2^53-1"],
  ])("is refused where it is wrong: %j", (value, pointer, message) => {
    expect(problem(value)).toEqual({
      code: "PATCH_POLICY_INVALID",
      message: `${pointer === "" ? "the policy" : pointer} ${message}`,
      where: `here#${pointer}`,
      details: { problems: [{ pointer, message }] },
    });
  });

  it("in a file is refused for what the file is, with its name", () => {
    const parse = (text: string) => () => parsePolicy(Buffer.from(text), open, "policy.json");
    expect(parse("null")).toThrowError(
      expect.objectContaining({ code: "PATCH_POLICY_INVALID", message: "the policy must be an object" }),
    );
    expect(parse("{")).toThrowError(
      expect.objectContaining({
        code: "PATCH_POLICY_INVALID",
        message: expect.stringMatching(/^JSON_/),
        where: expect.stringContaining("policy.json"),
      }),
    );
    expect(() => parsePolicy(null as never, open, "policy.json")).toThrow(TypeError);
    expect(parse('{"max_files":7}')()).toEqual({ ...open, max_files: 7 });
  });
});
