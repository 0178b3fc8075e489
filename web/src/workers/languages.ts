/** Languages that have colours, by the ends of file names. Anything else stays plain. */
const BY_END: Readonly<Record<string, string>> = {
  bash: "bash",
  c: "c",
  cc: "cpp",
  cjs: "javascript",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  cts: "typescript",
  go: "go",
  h: "c",
  hpp: "cpp",
  htm: "xml",
  html: "xml",
  ini: "ini",
  java: "java",
  js: "javascript",
  json: "json",
  jsx: "javascript",
  kt: "kotlin",
  lua: "lua",
  markdown: "markdown",
  md: "markdown",
  mjs: "javascript",
  mts: "typescript",
  php: "php",
  py: "python",
  rb: "ruby",
  rs: "rust",
  scss: "scss",
  sh: "bash",
  sql: "sql",
  svg: "xml",
  swift: "swift",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
};

const BY_NAME: Readonly<Record<string, string>> = { dockerfile: "dockerfile", makefile: "makefile" };

export function languageOf(path: string): string | null {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  return BY_NAME[name] ?? BY_END[name.slice(name.lastIndexOf(".") + 1)] ?? null;
}
