import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPathLook } from "../../../adapters/disk/source/path-look.ts";
import { effectivePolicy } from "./policy.ts";
import { checkPaths, type DeclaredPaths, findSharedAnchors } from "./preflight.ts";

const judge = (config: { readonly forbidden_roots?: string[] }, domain: string) => {
  const { policy } = effectivePolicy({ ...config, catalytic_roots: ["work"], durable_roots: ["out"] });
  const declared = { catalytic_domains: [domain], durable_output_roots: ["out"], outputs: { durable_paths: [] } };
  return checkPaths(policy!, { run_id: "run-1", ...declared }, null).errors.map(({ code }) => code);
};

describe("a name that folds to nothing", () => {
  it.each(["...", " ", "./ ./", ". ."])("is a name like others and not the repository: %j", (domain) => {
    expect(judge({}, domain)).toEqual(["CATALYTIC_OUTSIDE_ROOT"]);
    expect(judge({}, `work/${domain}`)).toEqual([]);
  });

  it("forbids itself and its twins, and nothing else", () => {
    expect(judge({ forbidden_roots: ["..."] }, "work/x")).toEqual([]);
    expect(judge({ forbidden_roots: ["..."] }, " /x")).toEqual(["FORBIDDEN_PATH_OVERLAP"]);
  });
});

describe("paths on a disk", () => {
  let root: string;
  const { policy } = effectivePolicy({
    catalytic_roots: ["work", "link", "dist/tmp"],
    durable_roots: ["out", "dist"],
    runs_root: "out",
  });
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-preflight-")));
    for (const folder of ["work/d", "out/old", "src", ".git"]) mkdirSync(join(root, folder), { recursive: true });
    for (const file of ["work/f", "out/f", "out/old/STATUS.json"]) writeFileSync(join(root, file), "x");
    symlinkSync("work", join(root, "link"));
    symlinkSync("d", join(root, "work/in"));
    symlinkSync("/", join(root, "work/up"));
    symlinkSync("../.git", join(root, "work/git"));
    symlinkSync("../src", join(root, "out/src"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const judge = (more: Partial<DeclaredPaths>) => {
    const declared = {
      run_id: "new",
      catalytic_domains: ["work/d"],
      durable_output_roots: ["out"],
      outputs: { durable_paths: [] },
      ...more,
    };
    return checkPaths(policy!, declared, createPathLook(root)).errors.map(({ code, pointer, with: other }) =>
      [code, pointer, other].join(" ").trim(),
    );
  };

  it.each<[Partial<DeclaredPaths>, string[]]>([
    [{}, []],
    [{ run_id: "old" }, ["RUN_ID_EXISTS /run_id"]],
    [{ catalytic_domains: ["work/new/x"] }, []],
    [{ catalytic_domains: ["link/d"] }, ["PATH_THROUGH_SYMLINK /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/in"] }, ["PATH_THROUGH_SYMLINK /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/up/x"] }, ["PATH_ESCAPES_REPO_ROOT /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/git"] }, ["FORBIDDEN_PATH_OVERLAP /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/f"] }, ["PATH_NOT_A_DIRECTORY /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/d", "work/d/x"] }, ["PATH_OVERLAP /catalytic_domains/1 /catalytic_domains/0"]],
    [{ durable_output_roots: ["out/f"] }, ["PATH_NOT_A_DIRECTORY /durable_output_roots/0"]],
    [{ durable_output_roots: ["src"] }, ["OUTPUT_OUTSIDE_DURABLE_ROOT /durable_output_roots/0"]],
    [{ outputs: { durable_paths: ["out/f"] } }, []],
    [{ outputs: { durable_paths: ["out/f/x"] } }, ["PATH_NOT_A_DIRECTORY /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["out/src/x"] } }, ["PATH_THROUGH_SYMLINK /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["out/old/x"] } }, ["RESERVED_PATH_OVERLAP /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["out/NEW/x"] } }, ["RESERVED_PATH_OVERLAP /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["out/x/PROOF.json"] } }, ["RESERVED_PATH_OVERLAP /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["out/"] } }, ["RESERVED_PATH_OVERLAP /outputs/durable_paths/0"]],
    [{ outputs: { durable_paths: ["src/x"] } }, ["OUTPUT_OUTSIDE_DURABLE_ROOT /outputs/durable_paths/0"]],
    [
      { durable_output_roots: ["out/a"], outputs: { durable_paths: ["out/b"] } },
      ["OUTPUT_OUTSIDE_DECLARED_ROOT /outputs/durable_paths/0"],
    ],
    [{ durable_output_roots: ["out/a", "out/b"], outputs: { durable_paths: ["out/b/x"] } }, []],
    [{ durable_output_roots: ["dist"], outputs: { durable_paths: ["dist/x"] } }, []],
    [
      { durable_output_roots: ["dist"], outputs: { durable_paths: ["dist/tmp/x"] } },
      ["OUTPUT_IN_CATALYTIC_ROOT /outputs/durable_paths/0"],
    ],
    [{ durable_output_roots: ["dist/tmp"] }, ["OUTPUT_IN_CATALYTIC_ROOT /durable_output_roots/0"]],
    [{ catalytic_domains: ["."] }, ["FORBIDDEN_PATH_OVERLAP /catalytic_domains/0"]],
    [{ catalytic_domains: ["work/.GIT/x"] }, ["FORBIDDEN_PATH_OVERLAP /catalytic_domains/0"]],
    [{ inputs: ["src", "gone"] }, ["INPUT_MISSING /inputs/1"]],
    [{ inputs: ["../x"] }, ["PATH_CONTAINS_TRAVERSAL /inputs/0"]],
    [{ inputs: ["work/up"] }, ["PATH_ESCAPES_REPO_ROOT /inputs/0"]],
    [{ inputs: ["link/f"], cwd: "link" }, []],
    [{ cwd: "gone" }, ["CWD_MISSING /cwd"]],
    [{ cwd: "work/f" }, ["CWD_MISSING /cwd"]],
    [{ cwd: "/" }, ["PATH_ABSOLUTE /cwd"]],
    [{ view: true, catalytic_domains: ["."] }, []],
    [{ view: true, catalytic_domains: ["work"] }, ["VIEW_DOMAIN_INVALID /catalytic_domains"]],
    [{ view: true, catalytic_domains: [".", "work"] }, ["VIEW_DOMAIN_INVALID /catalytic_domains"]],
    [
      { view: true, catalytic_domains: ["."], outputs: { durable_paths: ["out/f"] } },
      ["VIEW_HAS_OUTPUTS /outputs/durable_paths"],
    ],
  ])("%j", (more, expected) => {
    expect(judge(more)).toEqual(expected);
  });

  it("that pass come back normalised", () => {
    const declared = {
      run_id: "new",
      catalytic_domains: ["work/b/", "work/a"],
      durable_output_roots: ["out//"],
      outputs: { durable_paths: ["out/d//", "out/a"] },
    };
    expect(checkPaths(policy!, declared, createPathLook(root))).toEqual({
      ok: true,
      errors: [],
      normalized: {
        catalytic_domains: ["work/a", "work/b"],
        durable_output_roots: ["out"],
        durable_paths: ["out/a", "out/d/"],
      },
    });
  });

  it("are shared with the runs when an output lies directly beside them and is written in place", () => {
    const pointed = [{ code: "RESERVED_PATH_OVERLAP", pointer: "/outputs/durable_paths/1" }];
    expect(findSharedAnchors(policy!, ["out/d/x", "out/x"], "swap-back")).toEqual(pointed);
    expect(findSharedAnchors(policy!, ["out/d/x", "out/x"], "discard-upper")).toEqual([]);
  });
});
