import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findRunsRoot, findWorkspace, userFolders } from "./workspace.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-workspace-")));
});
afterEach(() => rmSync(base, { recursive: true }));

const at = (path: string) => join(base, path);

function folder(path: string): string {
  mkdirSync(at(path), { recursive: true });
  return at(path);
}

function file(path: string, text = ""): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

function git(cwd: string, ...args: string[]): void {
  const own = ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...own, ...args], { cwd, stdio: "ignore" });
}

function repository(path: string): string {
  git(folder(path), "init", "-q");
  git(at(path), "commit", "-q", "--allow-empty", "-m", "base");
  return at(path);
}

/** A stray state folder and configuration above everything, as an experiment in the home folder leaves them. */
function strayAbove(): void {
  folder(".verbatim");
  file("verbatim.config.json", "{}");
}

const STRANGER = 4711;

/** Files of somebody else, and the users that are not them: root gives files away, others are taken for somebody else. */
function plantForeign(...paths: string[]): ReadonlySet<number> {
  for (const path of paths) file(path, "{}");
  const own = process.getuid!();
  if (own !== 0) return new Set([own + 1, 0]);
  for (const path of paths) {
    for (let place = path; place !== "."; place = dirname(place)) chownSync(at(place), STRANGER, STRANGER);
  }
  return new Set([0]);
}

describe("the workspace of a folder in a repository", () => {
  it("is the top level of the repository, whatever lies above it", () => {
    strayAbove();
    repository("app");
    expect(findWorkspace(folder("app/src/deep"))).toMatchObject({ root: at("app"), workTree: at("app"), known: false });
    expect(findWorkspace(at("app")).root).toBe(at("app"));
  });

  it("is the nearest folder with a configuration or state folder up to the top level", () => {
    strayAbove();
    repository("app");
    file("app/packages/one/verbatim.config.json", "{}");
    folder("app/packages/two/.verbatim");
    expect(findWorkspace(folder("app/packages/one/src")).root).toBe(at("app/packages/one"));
    expect(findWorkspace(folder("app/packages/two/src")).root).toBe(at("app/packages/two"));
    expect(findWorkspace(folder("app/packages/three")).root).toBe(at("app"));
    expect(findWorkspace(at("app/packages/one"))).toMatchObject({ known: true, workTree: at("app") });
  });

  it("is that of a work tree and of a submodule, whose .git is a file", () => {
    strayAbove();
    repository("app");
    repository("lib");
    folder("app/.verbatim");
    git(at("app"), "worktree", "add", "-q", at("app/trees/fix"));
    git(at("app"), "submodule", "add", "-q", at("lib"), "vendor/lib");
    expect(findWorkspace(folder("app/trees/fix/src")).root).toBe(at("app/trees/fix"));
    expect(findWorkspace(folder("app/vendor/lib/src")).root).toBe(at("app/vendor/lib"));
  });

  it("is a nested repository before the one around it", () => {
    repository("app");
    folder("app/.verbatim");
    repository("app/inner");
    expect(findWorkspace(at("app/inner")).root).toBe(at("app/inner"));
  });

  it("ends at a .git file whatever it says, as git does, and at a .git that may not be read", () => {
    strayAbove();
    file("app/.git", "no repository\n");
    expect(findWorkspace(folder("app/src")).root).toBe(at("app"));
    file("gone/.git", "gitdir: /no/such/place\n");
    expect(findWorkspace(at("gone")).root).toBe(at("gone"));
  });

  it("follows a .git that is a link", () => {
    strayAbove();
    repository("store");
    folder("app");
    symlinkSync(at("store/.git"), at("app/.git"));
    expect(findWorkspace(at("app")).root).toBe(at("app"));
  });

  it("is not moved by a planted .git that is not a repository", () => {
    repository("app");
    folder("app/.verbatim");
    folder("app/src/.git");
    file("app/lib/.git/config", "[core]\n");
    execFileSync("mkfifo", [join(folder("app/pipe"), ".git")]);
    for (const name of ["src", "lib", "pipe"]) expect(findWorkspace(at(`app/${name}`)).root).toBe(at("app"));
  });

  it("is not moved by files that look like a bare repository inside a work tree", () => {
    repository("app");
    folder("app/.verbatim");
    git(base, "init", "-q", "--bare", at("app/src"));
    expect(findWorkspace(folder("app/src/hooks")).root).toBe(at("app"));
  });

  it("is the repository for who stands inside its .git", () => {
    strayAbove();
    repository("app");
    expect(findWorkspace(at("app/.git/refs")).root).toBe(at("app"));
  });

  it("is not moved by variables that point git elsewhere", () => {
    repository("app");
    repository("other");
    const names = { GIT_DIR: at("other/.git"), GIT_WORK_TREE: at("other"), GIT_CEILING_DIRECTORIES: base };
    const old = Object.keys(names).map((name) => [name, process.env[name]] as const);
    Object.assign(process.env, names);
    try {
      expect(findWorkspace(at("app")).root).toBe(at("app"));
    } finally {
      for (const [name, value] of old) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});

describe("the workspace of a folder outside every work tree", () => {
  it("is the nearest parent with a configuration or state folder, else the folder itself", () => {
    expect(findWorkspace(folder("notes/today"))).toMatchObject({ root: at("notes/today"), workTree: null });
    folder("notes/.verbatim");
    expect(findWorkspace(at("notes/today"))).toMatchObject({ root: at("notes"), known: true, workTree: null });
  });

  it("is not what another user planted above, nor in it", () => {
    const users = plantForeign("configuration/verbatim.config.json", "state/.verbatim/x");
    for (const [name, place] of [
      ["configuration", "configuration/verbatim.config.json"],
      ["state", "state/.verbatim"],
    ] as const) {
      const expected = expect.objectContaining({ code: "WORKSPACE_FOREIGN", where: at(place) });
      expect(() => findWorkspace(folder(`${name}/below`), users)).toThrowError(expected);
      expect(() => findWorkspace(at(name), users)).toThrowError(expected);
    }
    folder("state/mine/.verbatim");
    expect(findWorkspace(at("state/mine"), new Set([process.getuid!()])).root).toBe(at("state/mine"));
  });

  it("is not moved by a planted repository that git does not trust; one that git trusts counts", () => {
    repository("trap");
    const users = plantForeign("trap/verbatim.config.json", "trap/.git/x");
    // What git makes of it depends on who asks, so only a user who may give files away can show both answers.
    const expected = expect.objectContaining({
      code: "WORKSPACE_FOREIGN",
      fix: expect.stringContaining("safe.directory"),
    });
    if (process.getuid!() === 0) expect(() => findWorkspace(at("trap"), users)).toThrowError(expected);
    const old = process.env["GIT_CONFIG_GLOBAL"];
    file("gitconfig", `[safe]\n\tdirectory = ${at("trap")}\n`);
    process.env["GIT_CONFIG_GLOBAL"] = at("gitconfig");
    try {
      expect(findWorkspace(at("trap"), users).root).toBe(at("trap"));
    } finally {
      if (old === undefined) delete process.env["GIT_CONFIG_GLOBAL"];
      else process.env["GIT_CONFIG_GLOBAL"] = old;
    }
  });

  it("is a bare repository for who stands in one", () => {
    strayAbove();
    git(base, "init", "-q", "--bare", at("app.git"));
    expect(findWorkspace(at("app.git/refs"))).toMatchObject({ root: at("app.git"), workTree: null });
  });
});

describe("the folders of a user", () => {
  it("lie in the home of the environment that was given, not of the process", () => {
    const env = { HOME: "/homes/mira" };
    expect(userFolders(env, "linux")).toEqual({
      config: "/homes/mira/.config/verbatim",
      state: "/homes/mira/.local/state/verbatim",
    });
    expect(userFolders(env, "darwin").state).toBe("/homes/mira/Library/Application Support/verbatim");
    expect(userFolders({ USERPROFILE: "/homes/mira" }, "win32").config).toContain("/homes/mira/AppData/Roaming");
    expect(findRunsRoot({ env, platform: "linux" }, null)).toBe("/homes/mira/.local/state/verbatim/runs");
    expect(userFolders({ HOME: "" }, "linux")).toEqual(userFolders({}, "linux"));
  });
});
