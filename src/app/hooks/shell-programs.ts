/** What a program does to the paths in its arguments, as far as that shows. */
export interface ProgramRule {
  /** Which arguments it changes. */
  readonly changes: "all" | "last" | "none";
  /** How many arguments come first that are not paths: a mode, an owner, a script. */
  readonly skip?: number;
  /** Short options, and long ones with their dashes, whose next word is a value and not an argument. */
  readonly values?: string;
  /** Options whose value is written. */
  readonly outputs?: string;
  /** It changes its arguments only with one of these options. */
  readonly onlyWith?: RegExp;
}

const all = (values = "", more: Partial<ProgramRule> = {}): ProgramRule => ({ changes: "all", values, ...more });
const last = (values = "", outputs = ""): ProgramRule => ({ changes: "last", values, outputs });
const reads = (outputs = "", values = ""): ProgramRule => ({ changes: "none", outputs, values });

const SCRIPTED = /^(?:-[A-Za-z]*i|--in-place|-i)/;

export const PROGRAMS: ReadonlyMap<string, ProgramRule> = new Map<string, ProgramRule>([
  ...toEntries("rm rmdir unlink tee mkfifo sponge ed ex vi vim nvim nano emacs patch mkfs", all()),
  ["mv", all("-S --suffix", { outputs: "-t --target-directory" })],
  ["touch", all("-r -d -t --reference --date")],
  ["mkdir", all("-m --mode")],
  ["truncate", all("-s -r --size --reference")],
  ["shred", all("-n -s --iterations --size")],
  ...toEntries("chmod chown chgrp chattr setfacl", all("", { skip: 1 })),
  ["cp", last("-S --suffix", "-t --target-directory")],
  ["ln", last("-S --suffix", "-t --target-directory")],
  ["install", last("-m -o -g -S --mode --owner --group --suffix", "-t --target-directory")],
  [
    "rsync",
    last(
      "-e -f --rsh --exclude --include --filter --exclude-from --include-from --files-from",
      "--backup-dir --log-file",
    ),
  ],
  ["scp", last("-i -P -F -o -l -c -J")],
  ["sed", all("-e -f --expression --file -l", { skip: 1, onlyWith: SCRIPTED })],
  ["perl", all("-e -E -M -I", { onlyWith: /^-[A-Za-z0-9]*i/ })],
  ["ruby", all("-e -r -I", { onlyWith: /^-[A-Za-z0-9]*i/ })],
  ["yq", all("", { skip: 1, onlyWith: SCRIPTED })],
  ["curl", reads("-o --output --output-dir -D --dump-header -c --cookie-jar")],
  ["wget", reads("-O -P -o --output-document --directory-prefix --output-file")],
  ["sort", reads("-o --output", "-k -t -S -T")],
  ["tar", reads("-C --directory")],
  ["unzip", reads("-d")],
  ...toEntries("cat bat ls ll exa eza head tail less more file stat wc grep egrep fgrep rg ag ack fd fdfind", reads()),
  ...toEntries("tree du df diff cmp comm uniq cut awk gawk jq xxd od hexdump strings cksum column nl tac rev", reads()),
  ...toEntries("md5sum sha1sum sha256sum sha512sum b2sum shasum readlink realpath basename dirname test [ [[", reads()),
  ...toEntries("echo printf pwd which type for case select export set unset true false zip verbatim", reads()),
]);

function toEntries(names: string, rule: ProgramRule): [string, ProgramRule][] {
  return names.split(" ").map((name) => [name, rule]);
}

/** Programs and words of the shell that run what follows them. */
export const WRAPPERS = new Set(
  "sudo doas env command exec nohup time nice ionice timeout xargs stdbuf setsid builtin then do else elif if while until ! { parallel chroot".split(
    " ",
  ),
);

export const SHELLS = new Set("sh bash zsh dash ksh ash fish".split(" "));

/** Subcommands of git that change nothing, wherever they are pointed. */
export const GIT_READS = new Set(
  "status log diff show ls-files ls-tree ls-remote grep blame annotate rev-parse rev-list cat-file describe shortlog for-each-ref show-ref name-rev merge-base help version var whatchanged count-objects check-ignore check-attr diff-tree diff-index diff-files verify-commit verify-tag fsck cherry range-diff".split(
    " ",
  ),
);

/** Subcommands of git that change the paths they name. */
export const GIT_PATHS = new Set("rm mv restore checkout clean apply am".split(" "));
/** Subcommands of git that make the folder or file they name. */
export const GIT_PLACES = new Set("init clone worktree bundle".split(" "));
