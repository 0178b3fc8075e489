import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeScratchFolder } from "../../../test/support/scratch.ts";
import { resolveAgentPolicy } from "../../rooms/workflow/index.ts";
import type { HookCall } from "./hook-call.ts";
import type { HookRules } from "./hook-rules.ts";
import { judgeCall } from "./hook-verdict.ts";

let root: string;
let rules: HookRules;

beforeAll(() => {
  // Not in the temporary folder, which commands may use.
  root = join(makeScratchFolder("verbatim-verdict-"), "gull-rock");
  mkdirSync(join(root, ".git", "hooks"), { recursive: true });
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src", "lamp.ts"), "off\n");
  rules = {
    root,
    forbidden: [".git", ".verbatim", "verbatim.config.json", "migrations"],
    keep: [join(homedir(), "notes")],
    run: null,
  };
});
afterAll(() => rmSync(join(root, ".."), { recursive: true, force: true }));

function judge(parts: Partial<HookCall>, by = rules) {
  const call = { client: "claude", event: "pre-tool", moment: "PreToolUse", tool: "Bash", session: "s", again: false };
  return judgeCall({ ...call, cwd: root, writes: [], reads: [], commands: [], ...parts } as HookCall, by);
}

const OUTSIDE = [
  "rm -rf ~",
  "rm -rf ~/",
  "rm -rf ~root/x",
  "rm -rf /usr/lib",
  "rm -rf /usr/lib/*",
  'rm -rf "$HOME"',
  "rm -rf $" + "{HOME}/projects",
  "rm -rf ..",
  "rm -rf -- /usr/lib",
  "echo x > /etc/x",
  "echo x >> /etc/x",
  "echo x &> /etc/x",
  "echo x >| '/etc/x'",
  "echo x 2> /etc/x",
  "echo x>/etc/x",
  "sed -i 's/a/b/' /etc/hosts",
  "sed -i.bak -e 's/a/b/' /etc/hosts",
  "sed -Ei 's/a/b/' src/lamp.ts /etc/hosts",
  "sed --in-place=.bak s/a/b/ /etc/hosts",
  "perl -pi -e 's/a/b/' /etc/hosts",
  "mv src/lamp.ts /etc/lamp",
  "mv /etc/hosts src/",
  "cp src/lamp.ts /etc/lamp",
  "cp -t /etc src/lamp.ts",
  "cp --target-directory=/etc src/lamp.ts",
  "ln -s src/lamp.ts /usr/local/bin/lamp",
  "install -m 755 src/lamp.ts /usr/local/bin/lamp",
  "install -d /usr/local/lamp",
  "rsync -a --exclude .git ./ /srv/lamp/",
  "echo x | tee /etc/x",
  "echo x | sudo tee -a /etc/hosts",
  "dd if=/dev/zero of=/dev/sda",
  "truncate -s 0 /var/log/lamp",
  "chmod -R 777 /etc",
  "chown mira:mira /etc/passwd",
  "touch -d yesterday /etc/x",
  "mkdir -p /opt/lamp",
  "find /usr -name '*.so' -delete",
  "find / -delete",
  "find ~ -type f -exec rm {} +",
  "find . -fprint /etc/x",
  "git -C ../other commit -am x",
  "git -C /srv/lamp reset --hard",
  "git --git-dir=/srv/lamp/.git --work-tree=/srv/lamp checkout .",
  "git clone https://example.org/lamp.git /opt/lamp",
  "git archive -o /etc/lamp.tar HEAD",
  "curl -o /etc/x https://example.org",
  "curl -sSLo/etc/x https://example.org",
  "wget -O /etc/x https://example.org",
  "tar -xf lamp.tar -C /opt",
  "cd / && rm -rf usr",
  "cd ..; echo x > other.txt",
  "FOO=1 rm -rf /usr/lib",
  "sudo -u mira rm -rf /usr/lib",
  "env -i A=b rm -rf /usr/lib",
  "timeout 5 rm -rf /usr/lib",
  "if true; then rm -rf /usr/lib; fi",
  "ls | xargs rm -rf /usr/lib",
  "sh -c 'rm -rf /usr/lib'",
  'bash -lc "cd /; rm -rf usr"',
  'eval "rm -rf /usr/lib"',
  'echo "$(rm -rf /usr/lib)"',
  "echo `rm -rf /usr/lib`",
  "(rm -rf /usr/lib)",
  "bash <<'END'\nrm -rf /usr/lib\nEND",
  "echo a && rm -rf /usr/lib # tidy",
  "rm -rf /tmp",
];

const FORBIDDEN = [
  "rm -rf .git",
  "rm -rf .git/*",
  "rm -rf .",
  "mv .git elsewhere",
  "echo x > .git/config",
  "echo x > .GIT/config",
  "cp hook .git/hooks/pre-commit",
  "ln -s ../../src/lamp.ts .git/hooks/pre-commit",
  "sed -i s/a/b/ .git/config",
  "tee .verbatim/state/x < src/lamp.ts",
  "echo '{}' > verbatim.config.json",
  "echo '{}' > src/verbatim.config.json",
  "mkdir -p src/.verbatim",
  "touch 'migrations/1.sql'",
  "touch 'Migrations./1.sql'",
  "touch 'migrations::$DATA'",
  "cd .git && rm HEAD",
  "find .git -name '*.lock' -delete",
  "find . -delete",
  "git config -f .git/config core.hooksPath x",
  "git rm verbatim.config.json",
  "git checkout -- verbatim.config.json",
  "vim .git/config",
  "node tidy.js .git/config",
  "sqlite3 .verbatim/state/store.db 'drop table entries'",
];

const FINE = [
  "find . -not -path './.git/*'",
  "find . -path ./.git -prune -o -name '*.ts' -print",
  "find . -name '*.pyc' -delete",
  "find /usr/include -name stdio.h",
  "cat .git/HEAD",
  "cat < .git/HEAD",
  "head -n 3 verbatim.config.json",
  "jq .workflow verbatim.config.json",
  "grep -r x --exclude-dir=.git .",
  "grep -r x --exclude-dir .git .",
  "grep hooksPath .git/config",
  "rg lamp -g '!.git'",
  "ls .git",
  "ls -la .git/hooks /etc",
  "cp .git/config config.bak",
  "diff .git/config src/lamp.ts",
  "test -d .git && echo yes",
  "[ -f verbatim.config.json ] || echo none",
  "sed -n 1,5p /etc/hosts",
  "sed -n 1,5p .git/config",
  "du -sh .git",
  "tar -czf lamp.tgz --exclude .git .",
  "rsync -a --exclude .git src/ copy/",
  "git status",
  "git -C ../other log --oneline",
  "git -C . commit -am x",
  "git add -A && git commit -m 'rm -rf /usr/lib'",
  "git checkout main",
  "git push -f origin main",
  "git checkout -f main",
  "npm test > /dev/null 2>&1",
  "npm test 2> /dev/stderr | tee out.log",
  "echo x > /tmp/lamp.txt",
  "mkdir -p /tmp/lamp && cp src/lamp.ts /tmp/lamp/",
  "echo x > ~/notes/lamp.md",
  "echo 'rm -rf /usr/lib'",
  'echo "a -> /etc"',
  "rm -rf node_modules dist",
  "rm -rf $BUILD",
  "rm -f *.log",
  "chmod +x src/lamp.ts",
  "chmod 755 src/lamp.ts",
  "touch -d '/etc' src/lamp.ts",
  "sed -i 's#/etc/a#/etc/b#' src/lamp.ts",
  "sed -i -e 's#/etc/a#/etc/b#' src/lamp.ts",
  "perl -pi -e 's#/etc#/usr#' src/lamp.ts",
  "python3 /usr/share/tool.py",
  "/usr/bin/env node src/lamp.js",
  "for f in .git/*; do echo $f; done",
  'cat > page.html <<EOF\n<a href="x">/usr</a>\nrm -rf /usr/lib\n> /etc/x\nEOF\necho done',
  "cat <<-'EOF' > src/notes.md\n\trm -rf ~\n\tEOF",
  "ln -s ../shared lib",
  "cd src && echo x > lamp.ts",
];

describe("a shell command", () => {
  it.each(OUTSIDE)("is refused where it shows that it changes something outside: %s", (command) => {
    const { allowed, targets } = judge({ commands: [command] });
    expect([allowed, targets.find(({ code }) => code !== null)?.code]).toEqual([false, "HOOK_OUTSIDE"]);
  });

  it.each(FORBIDDEN)("is refused where it shows that it changes a forbidden place: %s", (command) => {
    const { allowed, targets } = judge({ commands: [command] });
    expect([allowed, targets.find(({ code }) => code !== null)?.code]).toEqual([false, "HOOK_FORBIDDEN"]);
  });

  it.each(FINE)("is left alone when it reads, or changes what it may: %s", (command) => {
    expect(judge({ commands: [command] })).toMatchObject({ allowed: true, reason: "" });
  });

  it("of a repository in the temporary folder keeps away from what stands beside the repository", () => {
    const beside = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-beside-")));
    onTestFinished(() => rmSync(beside, { recursive: true, force: true }));
    const inside = { ...rules, root: join(beside, "gull-rock") };
    mkdirSync(inside.root);
    const judged = (command: string) => judge({ cwd: inside.root, commands: [command] }, inside).allowed;
    expect(judged("echo x > ../other.txt")).toBe(false);
    expect(judged(`rm -rf ${beside}/other`)).toBe(false);
    expect(judged(`echo x > ${join(tmpdir(), "verbatim-elsewhere.txt")}`)).toBe(true);
  });
});

describe("a path", () => {
  it.each([
    ".git.",
    ".git ",
    ".git. .",
    "git~1",
    "GIT~1/config",
    ".g\u200cit/config",
    "\ufeff.git/config",
    ".git::$INDEX_ALLOCATION/config",
    "src/.git:x",
    ".git\\config",
    "src\\.GIT\\hooks\\pre-commit",
    "src/.git./hooks",
    ".VERBATIM/state",
    ".verbatim./state",
    "src/.verbatim/state",
    "verbat~1/state",
    "Verbatim.Config.json",
    "verbatim.config.json.",
    "verbatim.config.json::$DATA",
    "src/verbatim.config.json",
    "VERBAT~1.JSO",
    "migrations./1.sql",
    "migration\u200ds/1.sql",
    "MIGRATIONS::$INDEX_ALLOCATION/1.sql",
    "migrations\\1.sql",
  ])("that some system takes for a forbidden one is refused: %j", (path) => {
    const { allowed, targets } = judge({ tool: "Write", writes: [join(root, "x").replace(/x$/, path)] });
    expect([allowed, targets[0]?.code]).toEqual([false, "HOOK_FORBIDDEN"]);
  });

  it.each([".gitignore", ".github/workflows/a.yml", "git~2", "src/verbatim.ts", "migrations2/a", "docs/.git-notes"])(
    "that only looks like one is left alone: %j",
    (path) => {
      expect(judge({ tool: "Write", writes: [join(root, path)] }).allowed).toBe(true);
    },
  );
});

it("the reason is the first refusal, and says how many more there are", () => {
  const outside = (name: string) => `"/usr/${name}" is outside the repository ${JSON.stringify(root)}`;
  expect(judge({ tool: "Write", writes: ["/usr/a"] }).reason).toBe(outside("a"));
  expect(judge({ tool: "Write", writes: ["src/x", "/usr/a", "/usr/b", "/usr/c"] }).reason).toBe(
    `${outside("a")} (and 2 more)`,
  );
  expect(judge({ tool: "Write", writes: ["/usr/a", "/usr/b"] }).reason).toBe(`${outside("a")} (and 1 more)`);
});

describe("the scope of a run", () => {
  const run = {
    id: "r1",
    dir: "/none",
    allow: ["src"],
    deny: ["src/keys"],
    allow_roots: ["./src/", "docs"],
    deny_prefixes: ["src/private", "src/Secret/"],
    deny_suffixes: [".lock", ".PEM"],
    policy: null,
  };
  it.each([
    ["src/lamp.ts", null],
    ["test/lamp.ts", "allow_roots"],
    ["srcs/lamp.ts", "allow_roots"],
    ["src/private/a", "deny_prefixes"],
    ["src/PRIVATE/a", "deny_prefixes"],
    ["src/secret/a", "deny_prefixes"],
    ["src/a.lock", "deny_suffixes"],
    ["src/a.pem", "deny_suffixes"],
    ["src/keys/a", "scope_deny"],
    ["docs/a.md", "scope_allow"],
  ])("judges %s: %s", (path, rule) => {
    const call = {
      client: "claude",
      event: "pre-tool",
      moment: "PreToolUse",
      tool: "Write",
      session: "s",
      again: false,
    };
    const parts = { cwd: root, writes: [path], reads: [], commands: [] };
    const { allowed, targets } = judgeCall({ ...call, ...parts } as HookCall, { ...rules, run });
    expect([allowed, targets[0]?.code]).toEqual(rule === null ? [true, null] : [false, "HOOK_SCOPE"]);
    if (rule !== null) expect(targets[0]?.reason).toContain(`the run r1 (${rule})`);
  });
});

describe("the policy of an agent run", () => {
  const open = { allow: ["."], deny: [], allow_roots: ["."], deny_prefixes: [], deny_suffixes: [] };
  const policy = resolveAgentPolicy({ permit: [".github/workflows/docs.yml"], config: { protect: ["db/"] } });
  const run = { id: "r1", dir: "/none", ...open, policy };

  it.each([
    [".github/workflows/ci.yml", ".github/workflows/ci.yml is protected: it decides what CI runs. Allow it: --permit "],
    [".GitHub/workflows/ci.yml", ".GitHub/workflows/ci.yml is protected: it decides what CI runs. Allow it: --permit "],
    ["src/.env", "src/.env is not to be changed: its name says that it holds a secret. Allow it: --permit src/.env"],
    ["db/1.sql", "db/1.sql is protected: the configuration says so. Allow it: --permit db/1.sql"],
    [".github/workflows/docs.yml", null],
    ["src/lamp.ts", null],
  ])("judges %s as the gate will", (path, said) => {
    const byTool = judge({ writes: [path] }, { ...rules, run });
    const byShell = judge({ commands: [`echo x > ${path}`] }, { ...rules, run });
    for (const { allowed, reason, targets } of [byTool, byShell]) {
      expect([allowed, targets[0]?.code]).toEqual(said === null ? [true, null] : [false, "HOOK_POLICY"]);
      expect(reason.startsWith(said ?? "")).toBe(true);
    }
    expect(judge({ writes: [path] }).allowed).toBe(true);
  });
});
