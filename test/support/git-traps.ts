/**
 * A shell script that fills the repository it runs in with everything known to make git start a program: each would
 * leave a file in `marks`. Run inside a guard it plants the traps without setting one off.
 */
export function plantGitTraps(marks: string): string {
  const run = (name: string) => `sh -c 'touch ${marks}/${name}' #`;
  return [
    "set -e",
    // The commit whose parent is nowhere: any walk over it asks for the parent.
    "tree=$(git rev-parse HEAD^{tree})",
    "c=$(printf 'tree %s\\nparent 1111111111111111111111111111111111111111\\nauthor a <a@b> 0 +0000\\ncommitter a <a@b> 0 +0000\\n\\nx\\n' $tree | git hash-object -t commit -w --stdin --literally)",
    "mkdir -p .git/refs/heads; echo $c > .git/refs/heads/trap",
    "git config core.repositoryformatversion 1",
    // A missing object makes git fetch from a remote that the repository names.
    "git config extensions.partialClone o",
    "git config remote.o.promisor true",
    "git config remote.o.url ssh://x/y",
    `git config core.sshCommand "${run("ssh")}"`,
    "git config remote.p.promisor true",
    `git config remote.p.url "$PWD"`,
    `git config remote.p.uploadpack "${run("uploadpack")}"`,
    "git config remote.q.promisor true",
    `git config remote.q.url "ext::sh -c touch% ${marks}/ext"`,
    "git config protocol.ext.allow always",
    `git config core.fsmonitor "${run("fsmonitor")}"`,
    `git config core.pager "${run("pager")}"`,
    `git config core.editor "${run("editor")}"`,
    `git config credential.helper "!${run("credential")}"`,
    `git config core.askPass "${run("askpass")}"`,
    `git config diff.external "${run("diff-external")}"`,
    `git config diff.trap.textconv "${run("textconv")}"`,
    `git config diff.trap.command "${run("diff-command")}"`,
    `git config merge.trap.driver "${run("merge")}"`,
    `git config filter.trap.clean "${run("clean")}"`,
    `git config filter.trap.smudge "${run("smudge")}"`,
    `git config filter.user.clean "${run("user-clean")}"`,
    `git config gpg.program "${run("gpg")}"`,
    `git config alias.rev-list "!${run("alias")}"`,
    `git config alias.status "!${run("alias-status")}"`,
    "git config submodule.trap.url ssh://x/y",
    `git config submodule.trap.update "!${run("submodule")}"`,
    `printf '[core]\\n\\tsshCommand = touch ${marks}/include\\n' > .git/more`,
    "git config includeIf.gitdir:/.path more",
    "git config include.path more",
    "git config core.hooksPath .git/traps",
    "mkdir -p .git/traps .git/info .git/objects/info",
    "for hook in post-checkout pre-commit post-index-change reference-transaction fsmonitor-watchman post-applypatch; do",
    `  printf '#!/bin/sh\\ntouch ${marks}/hook-%s\\n' $hook > .git/traps/$hook; chmod +x .git/traps/$hook; cp .git/traps/$hook .git/hooks/$hook 2>/dev/null || true`,
    "done",
    "echo '* filter=trap diff=trap merge=trap' > .git/info/attributes",
    `echo '${marks}/nowhere' > .git/objects/info/alternates`,
  ].join("\n");
}
