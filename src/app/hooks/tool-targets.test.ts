import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/canonical/index.ts";
import { listShellTargets } from "./shell-targets.ts";
import { listPatchedPaths, listToolTargets } from "./tool-targets.ts";

const REFUSED = expect.objectContaining({ code: "HOOK_INPUT_INVALID", where: "/tool_input" });
const none = { writes: [], reads: [], commands: [] };

describe("a tool that changes files", () => {
  it.each([
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "StrReplace",
    "Delete",
    "EditNotebook",
    "TabWrite",
    "write_file",
    "replace",
  ])("writes every path it names: %s", (tool) => {
    const input = { path: "a", file_path: "b", paths: ["c", "d"], content: "e", absolute_path: null };
    expect(listToolTargets(tool, input, false)).toEqual({ ...none, writes: ["b", "a", "c", "d"] });
    expect(() => listToolTargets(tool, { content: "e", path: "" }, false)).toThrow(REFUSED);
    expect(() => listToolTargets(tool, { content: "e", path: null }, false)).toThrow(REFUSED);
    expect(() => listToolTargets(tool, { file_path: "a", path: 7 }, false)).toThrow(REFUSED);
    expect(() => listToolTargets(tool, { file_path: "a", paths: ["b", false] }, false)).toThrow(REFUSED);
  });

  it.each([
    "file_path",
    "notebook_path",
    "path",
    "target_file",
    "target_notebook",
    "filePath",
    "absolute_path",
    "dir_path",
    "destination",
    "paths",
    "file_paths",
    "files",
  ])("calls a path %s", (key) => {
    expect(listToolTargets("Write", { [key]: "a" }, false).writes).toEqual(["a"]);
  });
});

describe("a tool that only reads", () => {
  it.each([
    "Read",
    "NotebookRead",
    "Glob",
    "Grep",
    "LS",
    "TabRead",
    "SemanticSearch",
    "read_file",
    "read_many_files",
    "list_directory",
    "glob",
    "grep_search",
    "search_file_content",
  ])("reads what it names, or nothing: %s", (tool) => {
    expect(listToolTargets(tool, { path: "a", steps: [{ path: "b" }], paths: [1] }, false)).toEqual({
      ...none,
      reads: ["a"],
    });
    expect(listToolTargets(tool, {}, false)).toEqual(none);
  });
});

describe("a shell", () => {
  it.each(["Bash", "PowerShell", "Shell", "run_shell_command", "shell", "exec_command"])(
    "shows its command, under either name: %s",
    (tool) => {
      expect(listToolTargets(tool, { command: "rm a", path: "b" }, false)).toEqual({ ...none, commands: ["rm a"] });
      expect(listToolTargets(tool, { cmd: "rm a" }, false)).toEqual({ ...none, commands: ["rm a"] });
      for (const input of [{}, { command: 7 }, { command: ["rm", 7] }, { command: { a: "rm" } }, { path: "a" }]) {
        expect(() => listToolTargets(tool, input as JsonObject, false)).toThrow(REFUSED);
      }
    },
  );

  it.each<[readonly string[], readonly string[]]>([
    [["bash", "-lc", "rm -rf /usr/lib"], ["/usr/lib"]],
    [["bash", "-lc", "cd /; echo 'x' > \"usr\""], ["/usr"]],
    [
      ["rm", "-rf", "two words", "it's"],
      ["/r/two words", "/r/it's"],
    ],
    [
      ["rm", "~", "$HOME", "a;b"],
      ["/r/~", "/r/$HOME", "/r/a;b"],
    ],
  ])("with a list of words keeps each of them whole: %j", (command, changed) => {
    const [line] = listToolTargets("shell", { command }, false).commands;
    expect(listShellTargets(line!, "/r")).toEqual(changed.map((path) => ({ path, use: "changed" })));
  });
});

describe("a tool nobody knows", () => {
  it("counts as a writer of every path at any depth, and as a shell", () => {
    const input = {
      path: "a",
      steps: [{ files: ["b", 1] }, "c"],
      more: { file: "d", deep: { path: "e" } },
      command: "f",
    };
    expect(listToolTargets("Mystery", input, false)).toEqual({ ...none, writes: ["a", "b", "e"], commands: ["f"] });
    expect(listToolTargets("Mystery", { command: ["f"] }, false)).toEqual(none);
  });

  it.each(["Read", "Bash", "apply_patch", "Write"])("is what another server calls %s", (tool) => {
    expect(listToolTargets(tool, { path: "a", command: "b" }, true)).toEqual({
      ...none,
      writes: ["a"],
      commands: ["b"],
    });
  });
});

describe("apply_patch", () => {
  const patch = "*** Begin Patch\n*** Add File: a\r\n*** Update File: b \n*** Move to: c\n*** Delete File: d\n@@ e";

  it.each(["command", "patch", "input"])("changes the files that its patch names, given as %s", (key) => {
    expect(listToolTargets("apply_patch", { [key]: patch }, false)).toEqual({ ...none, writes: ["a", "b", "c", "d"] });
  });

  it("may name a single file", () => {
    expect(listPatchedPaths("*** Delete File: a b")).toEqual(["a b"]);
  });

  it("is refused without a patch, or with one that names no file", () => {
    for (const input of [{}, { patch: 7 }, { text: patch }]) {
      expect(() => listToolTargets("apply_patch", input, false)).toThrow(REFUSED);
    }
    for (const text of ["", "*** Begin Patch\n*** End Patch", " *** Add File: a", "*** Add File: "]) {
      expect(() => listPatchedPaths(text)).toThrow(REFUSED);
    }
  });
});
