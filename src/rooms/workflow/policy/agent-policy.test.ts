import { describe, expect, it } from "vitest";
import { resolveAgentPolicy } from "./agent-policy.ts";
import { PROTECTED_PATHS, SECRET_PATHS } from "./default-policy.ts";

// Guards: each pattern of the default policy names what it should and leaves its neighbour alone. A pattern without a row
// here fails, so that nobody adds one untried.

const CASES: Readonly<Record<string, readonly [hit: string, miss: string]>> = {
  ".github/workflows/": [".github/workflows/ci.yml", ".github/workflows.md"],
  ".github/actions/": [".github/actions/setup/action.js", "docs/.github/actions/setup"],
  "action.yml": ["tools/action.yml", "actions.yml"],
  "action.yaml": ["action.yaml", "action.yaml.md"],
  ".gitlab-ci.yml": [".gitlab-ci.yml", ".gitlab-ci.yml.md"],
  ".gitlab/ci/": [".gitlab/ci/test.yml", ".gitlab/issue_templates/bug.md"],
  ".circleci/": [".circleci/config.yml", "circleci/config.yml"],
  ".buildkite/": [".buildkite/pipeline.yml", ".buildkite-notes"],
  ".forgejo/workflows/": [".forgejo/workflows/ci.yml", ".forgejo/notes/ci.yml"],
  ".gitea/workflows/": [".gitea/workflows/ci.yml", ".gitea/template.md"],
  ".woodpecker*": [".woodpecker.yml", "woodpecker.yml"],
  ".drone.yml": [".drone.yml", "drone.yml"],
  ".travis.yml": [".travis.yml", ".travis.yaml"],
  Jenkinsfile: ["ci/Jenkinsfile", "Jenkinsfile.md"],
  "azure-pipelines.yml": ["azure-pipelines.yml", "azure-pipelines-old.yml"],
  "azure-pipelines.yaml": ["azure-pipelines.yaml", "azure.yaml"],
  "bitbucket-pipelines.yml": ["bitbucket-pipelines.yml", "bitbucket.yml"],
  CODEOWNERS: [".github/CODEOWNERS", "CODEOWNERS.md"],
  ".claude/": [".claude/settings.json", ".claude.md"],
  ".codex/": ["part/.codex/config.toml", "codex/config.toml"],
  ".gemini/": [".gemini/settings.json", "gemini/settings.json"],
  ".cursor/": [".cursor/rules/a.mdc", ".cursorignore"],
  ".opencode/": [".opencode/agent/a.md", "opencode/agent/a.md"],
  "opencode.json*": ["opencode.jsonc", "opencode.yaml"],
  ".mcp.json": [".mcp.json", "mcp.json"],
  "**/.vscode/settings.json": ["web/.vscode/settings.json", ".vscode/extensions.json"],
  "**/.vscode/tasks.json": [".vscode/tasks.json", "vscode/tasks.json"],
  "**/.vscode/launch.json": [".vscode/launch.json", ".vscode/launch.md"],
  "**/.vscode/mcp.json": [".vscode/mcp.json", "vscode/mcp.json"],
  "*.code-workspace": ["harbour.code-workspace", "code-workspace"],
  ".devcontainer/": [".devcontainer/devcontainer.json", "devcontainer/devcontainer.json"],
  ".devcontainer.json": [".devcontainer.json", "devcontainer.json"],
  ".idea/": [".idea/workspace.xml", "idea/workspace.xml"],
  ".zed/": [".zed/settings.json", "zed/settings.json"],
  ".windsurf/": [".windsurf/rules/a.md", "windsurf/rules/a.md"],
  ".kiro/": [".kiro/settings/mcp.json", "kiro/settings/mcp.json"],
  ".roo/": [".roo/mcp.json", "roo/mcp.json"],
  ".continue/": [".continue/config.yaml", "continue/config.yaml"],
  ".amazonq/": [".amazonq/mcp.json", "amazonq/mcp.json"],
  ".junie/": [".junie/guidelines.md", "junie/guidelines.md"],
  ".aider.conf.yml": [".aider.conf.yml", "aider.conf.yml"],
  ".husky/": [".husky/pre-commit", "husky/pre-commit"],
  ".githooks/": [".githooks/pre-push", "githooks/pre-push"],
  ".pre-commit-config.yaml": [".pre-commit-config.yaml", "pre-commit-config.yaml"],
  "lefthook.yml": ["lefthook.yml", "lefthook.md"],
  "lefthook.yaml": ["lefthook.yaml", "hook.yaml"],
  "lefthook.toml": ["lefthook.toml", "left.toml"],
  "lefthook.json": ["lefthook.json", "lefthook.js"],
  ".lefthook.yml": [".lefthook.yml", ".lefthook"],
  ".lefthook.yaml": [".lefthook.yaml", ".lefthook/a"],
  ".envrc": ["sub/.envrc", "envrc"],
  ".gitattributes": ["sub/.gitattributes", "gitattributes"],
  ".gitmodules": [".gitmodules", "gitmodules"],
  ".npmrc": ["sub/.npmrc", ".npmignore"],
  ".yarnrc*": [".yarnrc.yml", "yarnrc"],
  ".pnpmfile.cjs": [".pnpmfile.cjs", "pnpmfile.cjs"],
  ".pnpmfile.mjs": [".pnpmfile.mjs", ".pnpmfile.ts"],
  "pip.conf": ["pip.conf", "pip.config"],
  "**/.cargo/config.toml": ["crates/a/.cargo/config.toml", "crates/a/config.toml"],
  "**/.cargo/config": ["crates/a/.cargo/config", "crates/a/config"],
  "bunfig.toml": ["bunfig.toml", "bunfig.md"],
  "mise.toml": ["mise.toml", "promise.toml"],
  ".mise.toml": [".mise.toml", "mise.md"],
  "verbatim.config.json": ["sub/verbatim.config.json", "verbatim.json"],
  "verbat~*.jso": ["VERBAT~1.JSO", "verbat.jso"],
  ".env": ["sub/.env", "env"],
  ".env.*": [".env.production", ".environment"],
  "!.env.example": [".env.local", ".env.example"],
  "!.env.sample": [".env.samples", ".env.sample"],
  "!.env.template": [".env.template2", "sub/.env.template"],
  "!.env.dist": [".env.dist.local", ".env.dist"],
  "!.env.defaults": [".env.default", ".env.defaults"],
  "*.pem": ["certs/a.pem", "certs/a.pem.md"],
  "*.key": ["server.key", "keys.ts"],
  "*.p12": ["a.p12", "a.p12x"],
  "*.pfx": ["a.pfx", "pfx"],
  "*.jks": ["a.jks", "a.jksx"],
  "*.keystore": ["a.keystore", "keystore.ts"],
  id_rsa: ["keys/id_rsa", "id_rsa.pub"],
  id_dsa: ["id_dsa", "id_dsa2"],
  id_ecdsa: ["id_ecdsa", "my_id_ecdsa"],
  id_ed25519: ["id_ed25519", "id_ed25519.pub"],
  ".netrc": [".netrc", "netrc"],
  ".pgpass": [".pgpass", "pgpass"],
  ".pypirc": [".pypirc", ".pypi"],
  "credentials.json": ["gcp/credentials.json", "credentials.ts"],
  "service-account*.json": ["service-account-prod.json", "service-accounts.ts"],
  ".aws/": [".aws/config", "aws/config"],
  ".ssh/": ["home/.ssh/config", "ssh/config"],
  "**/.kube/config": ["home/.kube/config", ".kube/cache"],
};

const policy = resolveAgentPolicy({});
const judge = (path: string, by = policy) => by.findProtection(path) ?? by.findSecrecy(path);

describe("the default policy", () => {
  it("has a row in this table for every pattern", () => {
    const patterns = [...PROTECTED_PATHS, ...SECRET_PATHS].flatMap((row) => row.patterns);
    expect(new Set(Object.keys(CASES))).toEqual(new Set(patterns));
    expect(patterns.length).toBe(new Set(patterns).size);
  });

  it.each(Object.entries(CASES))("%s names %j", (_, [hit, miss]) => {
    expect(judge(hit)).not.toBeNull();
    expect(judge(miss)).toBeNull();
  });

  it.each([
    [".GitHub/Workflows/CI.YML"],
    [".github/workflows /ci.yml"],
    [".github/work\u200dflows/ci.yml"],
    [".hu\u017fky/pre-commit"],
    ["CODEOWNERS."],
    [".Env"],
    [".env\u200b".replace("\u200b", "\u200c")],
    ["a.P\u0045M"],
    ["ID_RSA"],
    ["Verbatim.Config.Json"],
  ])("takes the twin %j for what it is on another file system", (path) => {
    expect(judge(path)).not.toBeNull();
  });

  it.each(["dist/a.js", "build/x", "src/a.ts", "AGENTS.md", "package.json", ".gitignore", "runs/a", "x.png"])(
    "calls %s ordinary",
    (path) => {
      expect(judge(path)).toBeNull();
    },
  );

  it("says why", () => {
    expect(policy.findProtection(".github/workflows/ci.yml")).toBe("it decides what CI runs");
    expect(policy.findProtection(".mcp.json")).toBe("it decides what agents and editors do");
    expect(policy.findProtection(".husky/x")).toBe("it decides which programs run on this machine");
    expect(policy.findSecrecy(".env")).toBe("its name says that it holds a secret");
  });
});

describe("a configured policy", () => {
  const own = resolveAgentPolicy({
    config: {
      permit: ["docs/.npmrc"],
      protect: ["db/migrations/", "!.npmrc", "!.github/workflows/docs.yml"],
      secret: ["*.secret", "!*.pem", "test.pem"],
      max_files: 3,
      max_carried_bytes: 10,
    },
    permit: [".github/", "!.github/CODEOWNERS", "certs/a.key"],
    limits: { max_files: 9, max_binary_bytes: 7 },
  });

  it("adds to the defaults and takes out of them", () => {
    expect(own.findProtection("db/migrations/1.sql")).toBe("the configuration says so");
    expect(own.findProtection(".npmrc")).toBeNull();
    expect(own.findProtection(".github/workflows/docs.yml")).toBeNull();
    expect(own.findProtection(".github/workflows/ci.yml")).toBe("it decides what CI runs");
    expect(own.findSecrecy("a.secret")).toBe("the configuration says so");
    expect(own.findSecrecy("a.pem")).toBeNull();
    expect(own.findSecrecy("test.pem")).toBe("the configuration says so");
    expect(own.findSecrecy("a.key")).not.toBeNull();
  });

  it("permits what was named, and no twin of it", () => {
    expect(own.isPermitted(".github/workflows/ci.yml")).toBe(true);
    expect(own.isPermitted(".GITHUB/workflows/ci.yml")).toBe(false);
    expect(own.isPermitted(".github/CODEOWNERS")).toBe(false);
    expect(own.isPermitted("docs/.npmrc")).toBe(true);
    expect(own.isPermitted("src/.npmrc")).toBe(false);
    expect(own.isPermitted("certs/a.key")).toBe(true);
    expect(policy.isPermitted("x")).toBe(false);
  });

  it("takes numbers from flags before the configuration before the defaults", () => {
    expect(own.limits).toEqual({
      max_files: 9,
      max_added_lines: 2000,
      max_binary_bytes: 7,
      max_carried_bytes: 10,
    });
    expect(policy.limits).toEqual({
      max_files: 50,
      max_added_lines: 2000,
      max_binary_bytes: 1_048_576,
      max_carried_bytes: 8_388_608,
    });
  });

  it("reads agent.patch of the first generation, whose lists replace", () => {
    const old = resolveAgentPolicy({
      patch: { allow_roots: ["src"], deny_prefixes: ["./src/gen/"], deny_suffixes: [".snap"], max_added_lines: 5 },
      config: { max_added_lines: 6 },
    });
    expect(old.roots).toEqual(["src"]);
    expect(old.findProtection(".github/workflows/ci.yml")).toBeNull();
    expect(old.findProtection("src/gen/a.ts")).not.toBeNull();
    expect(old.findProtection("deep/src/gen/a.ts")).toBeNull();
    expect(old.findProtection("x.snap")).not.toBeNull();
    expect(old.findSecrecy(".env")).not.toBeNull();
    expect(old.limits).toMatchObject({ max_files: 50, max_added_lines: 6 });
  });
});
