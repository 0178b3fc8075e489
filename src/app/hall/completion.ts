/** What a shell may offer after some words. */
interface CompletionChoice {
  readonly path: string;
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** A completion script for a shell: fixed choices, nothing is run while completing. */
export function formatCompletion(shell: Shell, tree: readonly CompletionChoice[]): string {
  switch (shell) {
    case "bash":
      return formatBash(tree);
    case "zsh":
      return `#compdef verbatim\nautoload -U +X bashcompinit && bashcompinit\n${formatBash(tree)}`;
    case "fish":
      return formatFish(tree);
  }
}

function formatBash(tree: readonly CompletionChoice[]): string {
  const cases = tree.map(({ path, words, flags }) => `    "${path}") choices="${[...words, ...flags].join(" ")}" ;;`);
  return `_verbatim() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" choices="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  if [ -n "$choices" ]; then COMPREPLY=($(compgen -W "$choices" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o default -F _verbatim verbatim
`;
}

function formatFish(tree: readonly CompletionChoice[]): string {
  const lines = [
    "function __verbatim_at",
    "  set -l words (commandline -opc)[2..-1]",
    "  set -l path (string match -v -- '-*' $words)",
    '  test "$path" = "$argv[1]"',
    "end",
  ];
  for (const { path, words, flags } of tree) {
    const when = `-n '__verbatim_at "${path}"'`;
    if (words.length > 0) lines.push(`complete -c verbatim -f ${when} -a '${words.join(" ")}'`);
    for (const flag of flags) lines.push(`complete -c verbatim ${when} -l ${flag.slice(2)}`);
  }
  return `${lines.join("\n")}\n`;
}
