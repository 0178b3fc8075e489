import { describe, expect, it } from "vitest";
import { encodeUtf8, type JsonValue } from "../../../core/canonical/index.ts";
import type { LoginFile } from "../contracts/agent-profile.ts";
import { detectProfile } from "./detect.ts";
import { type EnvironmentRequest, filterEnvironment } from "./environment.ts";
import { judgeLogin, placeInHome } from "./login.ts";
import { builtInProfiles, findProfile, mergeProfiles, readProfile } from "./profiles.ts";
import { readProviderHosts } from "./provider-hosts.ts";

const PROFILES = builtInProfiles().map(({ profile }) => profile);
const CLAUDE = PROFILES.find(({ name }) => name === "claude")!;

describe("the environment of an agent", () => {
  const ask = (env: Record<string, string>, more: Partial<EnvironmentRequest> = {}) =>
    filterEnvironment({
      env,
      profile: null,
      config: { pass: [], set: {} },
      names: [],
      values: {},
      all: false,
      ...more,
    });

  it("has who and where it is, and nothing else", () => {
    const { passed, withheld } = ask({ PATH: "/bin", HOME: "/h", LC_ALL: "C", AWS_SECRET_ACCESS_KEY: "x", FOO: "1" });
    expect(passed).toEqual(["HOME", "LC_ALL", "PATH"]);
    expect(withheld).toEqual(["AWS_SECRET_ACCESS_KEY", "FOO"]);
  });

  it("has what its profile, the configuration and the flags name", () => {
    const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "o", FOO_A: "1", BAR: "2" };
    const { passed, set } = ask(env, {
      profile: CLAUDE,
      config: { pass: ["FOO_*"], set: { BAR: "of the configuration" } },
      values: { BAR: "of the flag" },
    });
    expect(passed).toEqual(["ANTHROPIC_API_KEY", "FOO_A"]);
    expect(set).toEqual({ DISABLE_AUTOUPDATER: "1", BAR: "of the flag" });
    expect(ask(env, { names: ["OPENAI_API_KEY"] }).passed).toEqual(["OPENAI_API_KEY"]);
  });

  it("has no way to other programs of the user unless it is named by hand", () => {
    const env = { SSH_AUTH_SOCK: "/s", DBUS_SESSION_BUS_ADDRESS: "b", DOCKER_HOST: "d" };
    const profile = { ...CLAUDE, env: { pass: ["SSH_AUTH_SOCK", "DBUS_*", "DOCKER_HOST"] } };
    expect(ask(env, { profile }).passed).toEqual([]);
    expect(ask(env, { names: ["SSH_AUTH_SOCK"] }).passed).toEqual(["SSH_AUTH_SOCK"]);
  });

  it("never has a variable of Verbatim, whoever asks", () => {
    const env = { VERBATIM_KEY: "k", VERBATIM_TOKEN_FILE: "t", VERBATIM_DATABASE_URL: "d", A: "1", "not a name": "2" };
    const all = ask(env, { all: true, names: ["VERBATIM_KEY"], values: { VERBATIM_KEY: "again" } });
    expect(all.passed).toEqual(["A"]);
    expect(all.set).toEqual({});
    expect(all.withheld).toEqual(["VERBATIM_DATABASE_URL", "VERBATIM_KEY", "VERBATIM_TOKEN_FILE", "not a name"]);
  });

  it.each([
    ["--max-old-space-size=4096", true],
    ["--require /tmp/x.js", false],
    ["--max-old-space-size=1 --import=file:///x", false],
    ["-r ./x", false],
    ["--experimental-loader x", false],
    ["--required-thing", true],
  ])("has NODE_OPTIONS only where they load nothing: %s", (value, expected) => {
    expect(ask({ NODE_OPTIONS: value }).passed).toEqual(expected ? ["NODE_OPTIONS"] : []);
  });
});

describe("the profile of a command", () => {
  const places: Readonly<Record<string, string>> = {
    claude: "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
    helper: "/opt/lib/node_modules/@google/gemini-cli/dist/index.js",
    agent: "/home/mira/.local/share/cursor-agent/versions/1/cursor-agent",
    "./agent": "/opt/tools/agent",
    codex: "/usr/bin/codex",
  };
  const find = (...command: string[]) =>
    detectProfile(command, PROFILES, { realProgram: (word) => places[word] ?? null })?.name ?? null;

  it.each([
    [["claude", "-p", "x"], "claude"],
    [["/usr/bin/codex", "exec"], "codex"],
    [["helper"], "gemini"],
    [["npx", "-y", "@openai/codex@latest", "exec"], "codex"],
    [["sh", "-c", "  opencode run 'x'"], "opencode"],
    [["env", "A=1", "claude"], "claude"],
    [["agent"], "cursor"],
    [["./agent"], null],
    [["sh", "fix-with-claude.sh"], null],
    [["node", "claudette.js"], null],
    [["npx", "@openai/codexed"], null],
    [["echo", "claude"], null],
  ])("%j is %s", (command, expected) => {
    expect(find(...command)).toBe(expected);
  });
});

describe("a refreshed login", () => {
  const FILE: LoginFile = { path: "~/.x/auth.json", check: "json", newer: "/at", same: ["/account"] };
  const login = (value: JsonValue) => encodeUtf8(JSON.stringify(value));
  const before = login({ account: "mira", token: "a", at: 1 });
  const judge = (inside: Uint8Array | null, real: Uint8Array | null = before, start: Uint8Array | null = before) => {
    const verdict = judgeLogin(FILE, { before: start, inside, real });
    return verdict.take ? "take" : verdict.why;
  };

  it.each<[string, string, () => string]>([
    ["take", "another token of the same account", () => judge(login({ account: "mira", token: "b", at: 2 }))],
    ["unchanged", "the same bytes", () => judge(before)],
    ["other_account", "another account", () => judge(login({ account: "joss", token: "b", at: 2 }))],
    ["other_keys", "a field more", () => judge(login({ account: "mira", token: "b", at: 2, hooks: {} }))],
    ["not_readable", "no JSON", () => judge(encodeUtf8("#!/bin/sh"))],
    ["too_large", "more than a megabyte", () => judge(new Uint8Array(1024 * 1024 + 1))],
    ["new", "a first login", () => judge(before, null, null)],
    ["gone", "a removed file", () => judge(null)],
    [
      "older",
      "one older than the real one of now",
      () => judge(login({ account: "mira", token: "b", at: 2 }), login({ account: "mira", token: "c", at: 3 })),
    ],
    [
      "take",
      "one newer than the real one of now",
      () => judge(login({ account: "mira", token: "b", at: 4 }), login({ account: "mira", token: "c", at: 3 })),
    ],
  ])("%s: %s", (expected, _, act) => {
    expect(act()).toBe(expected);
  });

  it("of TOML has the same keys, and no text over several lines", () => {
    const toml: LoginFile = { path: "~/.x/auth.toml", check: "toml" };
    const start = encodeUtf8('[auth]\ntoken = "a" # comment\n');
    const ask = (text: string) => judgeLogin(toml, { before: start, inside: encodeUtf8(text), real: start });
    expect(ask('[auth]\ntoken = "b"\n')).toEqual({ take: true });
    expect(ask('[auth]\ntoken = "b"\nhook = "x"\n')).toEqual({ take: false, why: "other_keys" });
    expect(ask('[auth]\ntoken = """\n"""\n')).toEqual({ take: false, why: "not_readable" });
  });

  it("lies where the agent's own variable says", () => {
    const file = CLAUDE.login![0]!;
    expect(placeInHome(file, {}, "/h")).toBe("/h/.claude/.credentials.json");
    expect(placeInHome(file, { CLAUDE_CONFIG_DIR: "/c/" }, "/h")).toBe("/c/.credentials.json");
    expect(placeInHome(file, { CLAUDE_CONFIG_DIR: "relative" }, "/h")).toBe("/h/.claude/.credentials.json");
    const opencode = PROFILES.find(({ name }) => name === "opencode")!.login![0]!;
    expect(placeInHome(opencode, { XDG_DATA_HOME: "/d" }, "/h")).toBe("/d/opencode/auth.json");
  });
});

describe("providers of models", () => {
  const { network } = PROFILES.find(({ name }) => name === "opencode")!;
  const { from, known } = network!.providers!;
  const read = (file: number, text: string) => readProviderHosts(from[file]!, known, encodeUtf8(text));

  it("are those that the user's own configuration of the agent names, by their own address where it has one", () => {
    const config = {
      provider: {
        anthropic: {},
        harbour: { options: { baseURL: "https://Models.Harbour.example:8443/v1" } },
        openai: { options: { baseURL: "https://relay.example/v1" } },
        nobody: {},
      },
    };
    expect(read(0, JSON.stringify(config))).toEqual([
      "api.anthropic.com",
      "console.anthropic.com",
      "models.harbour.example:8443",
      "relay.example",
    ]);
    expect(read(1, '{"groq":{"type":"api","key":"k"}}')).toEqual(["api.groq.com"]);
  });

  it.each([
    "{",
    "[]",
    '{"provider":["anthropic"]}',
    '{"provider":{"__proto__":{}}}',
    '{"provider":{"x":{"options":{"baseURL":"http://127.0.0.1:11434"}}}}',
    '{"provider":{"x":{"options":{"baseURL":"https://mira:secret@evil.example"}}}}',
  ])("are none where the file says none: %s", (text) => {
    expect(read(0, text)).toEqual([]);
  });
});

describe("profiles", () => {
  it("of the package are valid, recognised by their program and tried by nobody", () => {
    expect(PROFILES.map(({ name }) => name)).toEqual(["claude", "codex", "gemini", "opencode", "cursor"]);
    expect(PROFILES.map(({ checked }) => checked)).toEqual([null, null, null, null, null]);
  });

  it("are refused with their pointer", () => {
    const refuse = (value: JsonValue) => {
      try {
        return readProfile(value, "x.json").name;
      } catch (thrown) {
        return thrown;
      }
    };
    const base = { schema_version: "verbatim-agent-profile-v1", name: "lamp", title: "Lamp", detect: { programs: [] } };
    expect(refuse(base)).toBe("lamp");
    expect(refuse({ ...base, env: { pass: ["A*B"] } })).toMatchObject({
      code: "PROFILE_INVALID",
      where: "x.json /env/pass/0",
    });
    expect(refuse({ ...base, login: [{ path: "~/../x", check: "any" }] })).toMatchObject({
      where: "x.json /login/0/path",
    });
    expect(refuse({ ...base, name: "none" })).toMatchObject({ where: "x.json /name" });
    expect(refuse({ ...base, hosts: [] })).toMatchObject({ where: "x.json /hosts" });
  });

  it("of the repository go before those of the user, and these before those of the package", () => {
    const of = (source: "built-in" | "user" | "repository") => ({
      profile: { ...CLAUDE, title: source },
      source,
      place: null,
    });
    const merged = mergeProfiles([of("repository"), of("user"), of("built-in")]);
    expect(merged.map(({ profile }) => profile.title)).toEqual(["repository"]);
    expect(() => findProfile("lamp", merged)).toThrow('there is no profile "lamp"; there are claude, and none');
  });
});
