/** Paths of one kind, in the syntax of gitignore; a later `!pattern` takes out what an earlier one named. */
export interface PolicyRow {
  readonly group: "ci" | "agents" | "tools" | "secret";
  readonly patterns: readonly string[];
  /** Follows the path: ".github/workflows/ci.yml is protected: it decides what CI runs". */
  readonly says: string;
}

const CI = "it decides what CI runs";
const TOLD = "it decides what agents and editors do";
const RUNS = "it decides which programs run on this machine";
const SECRET = "its name says that it holds a secret";

/** What an agent may change only where someone permits it. */
export const PROTECTED_PATHS: readonly PolicyRow[] = [
  {
    group: "ci",
    says: CI,
    patterns: [
      ".github/workflows/",
      ".github/actions/",
      "action.yml",
      "action.yaml",
      ".gitlab-ci.yml",
      ".gitlab/ci/",
      ".circleci/",
      ".buildkite/",
      ".forgejo/workflows/",
      ".gitea/workflows/",
      ".woodpecker*",
      ".drone.yml",
      ".travis.yml",
      "Jenkinsfile",
      "azure-pipelines.yml",
      "azure-pipelines.yaml",
      "bitbucket-pipelines.yml",
      "CODEOWNERS",
    ],
  },
  {
    group: "agents",
    says: TOLD,
    patterns: [
      ".claude/",
      ".codex/",
      ".gemini/",
      ".cursor/",
      ".opencode/",
      "opencode.json*",
      ".mcp.json",
      "**/.vscode/settings.json",
      "**/.vscode/tasks.json",
      "**/.vscode/launch.json",
      "**/.vscode/mcp.json",
      "*.code-workspace",
      ".devcontainer/",
      ".devcontainer.json",
      ".idea/",
      ".zed/",
      ".windsurf/",
      ".kiro/",
      ".roo/",
      ".continue/",
      ".amazonq/",
      ".junie/",
      ".aider.conf.yml",
    ],
  },
  {
    group: "tools",
    says: RUNS,
    patterns: [
      ".husky/",
      ".githooks/",
      ".pre-commit-config.yaml",
      "lefthook.yml",
      "lefthook.yaml",
      "lefthook.toml",
      "lefthook.json",
      ".lefthook.yml",
      ".lefthook.yaml",
      ".envrc",
      ".gitattributes",
      ".gitmodules",
      ".npmrc",
      ".yarnrc*",
      ".pnpmfile.cjs",
      ".pnpmfile.mjs",
      "pip.conf",
      "**/.cargo/config.toml",
      "**/.cargo/config",
      "bunfig.toml",
      "mise.toml",
      ".mise.toml",
      "verbatim.config.json",
      // Its short name on Windows.
      "verbat~*.jso",
    ],
  },
];

/** Files whose name says that they hold a secret. */
export const SECRET_PATHS: readonly PolicyRow[] = [
  {
    group: "secret",
    says: SECRET,
    patterns: [
      ".env",
      ".env.*",
      "!.env.example",
      "!.env.sample",
      "!.env.template",
      "!.env.dist",
      "!.env.defaults",
      "*.pem",
      "*.key",
      "*.p12",
      "*.pfx",
      "*.jks",
      "*.keystore",
      "id_rsa",
      "id_dsa",
      "id_ecdsa",
      "id_ed25519",
      ".netrc",
      ".pgpass",
      ".pypirc",
      "credentials.json",
      "service-account*.json",
      ".aws/",
      ".ssh/",
      "**/.kube/config",
    ],
  },
];

/** Files that are counted apart: a tool writes them, and nobody reads every line. */
export const LOCK_FILES: readonly string[] = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "deno.lock",
  "uv.lock",
  "poetry.lock",
  "pdm.lock",
  "Pipfile.lock",
  "Gemfile.lock",
  "composer.lock",
  "Cargo.lock",
  "go.sum",
  "mix.lock",
  "pubspec.lock",
  "Podfile.lock",
  "Package.resolved",
  "packages.lock.json",
  "gradle.lockfile",
  "flake.lock",
];

/** Lock files that a package.json next to them, or below them, is installed from. */
export const PACKAGE_LOCKS: readonly string[] = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
];

/** Files that tell later agents what to do. Noticed, not refused. */
export const AGENT_DOCUMENTS: readonly string[] = [
  "AGENTS.md",
  "CLAUDE.md",
  "GEMINI.md",
  ".cursorrules",
  ".github/copilot-instructions.md",
];

/** Files that decide what a verify command does. Noticed, not refused. */
export const VERIFY_FILES: readonly string[] = [
  "Makefile",
  "GNUmakefile",
  "justfile",
  "Taskfile.yml",
  "Rakefile",
  "noxfile.py",
  "conftest.py",
  "tox.ini",
  "pytest.ini",
  "setup.cfg",
  ".rspec",
  "phpunit.xml*",
  ".mocharc*",
  "jest.config.*",
  "jest.setup.*",
  "vitest.config.*",
  "vitest.workspace.*",
  "vitest.setup.*",
  "playwright.config.*",
  "cypress.config.*",
  "karma.conf.*",
  "ava.config.*",
];

/** Scripts of package.json that a package manager runs when it installs. */
export const INSTALL_SCRIPTS: readonly string[] = [
  "preinstall",
  "install",
  "postinstall",
  "prepublish",
  "preprepare",
  "prepare",
  "postprepare",
];

export const DEFAULT_LIMITS = {
  max_files: 50,
  max_added_lines: 2000,
  /** A file that travels whole. */
  max_binary_bytes: 1024 * 1024,
  /** All of them together. */
  max_carried_bytes: 8 * 1024 * 1024,
} as const;
