const PLAIN = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec"];

/** Where tools were installed: without them a command that works in the user's terminal finds no compiler or library. */
export const TOOL_HOMES = [
  "NVM_DIR",
  "VOLTA_HOME",
  "PYENV_ROOT",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "JAVA_HOME",
  "GOPATH",
  "GOROOT",
  "CARGO_HOME",
  "RUSTUP_HOME",
] as const;

/** The environment of a child: a short list, what the configuration adds, and what the run says. Never everything. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const passes = PLAIN.includes(name) || name.startsWith("LC_") || allowed.includes(name);
    if (passes && value !== undefined) result[name] = value;
  }
  return { ...result, ...own };
}
