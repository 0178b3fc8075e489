import { LANGUAGE_RULES } from "./rules.ts";

interface PinnedFile {
  readonly file: string;
  readonly sha256: string;
}

/** The parser itself. */
export const ENGINE_FILES: { readonly script: PinnedFile; readonly wasm: PinnedFile } = {
  script: { file: "tree-sitter.js", sha256: "874f4a37c4beddef04d8eb9a8dbd28a65b63111f2d2123a38fd3f5333ee046dd" },
  wasm: { file: "tree-sitter.wasm", sha256: "3a31af706ffdf4a7116b064cdd4988df6791823298615009fc5b6bccbd42909b" },
};

const HASHES: Readonly<Record<keyof typeof LANGUAGE_RULES, readonly [file: string, sha256: string]>> = {
  "c-sharp": ["tree-sitter-c-sharp.wasm", "d12d85996c25957b4c1b71e26db2d7cc8a294997b60642e9c2a3b031b2c66dd3"],
  cpp: ["tree-sitter-cpp.wasm", "77a65bd42f43c2dcd69af40c12a6c32d6ed81d360c025e9feb28911f8339fd69"],
  go: ["tree-sitter-go.wasm", "9504573f352b20be7f2f1911754d710622aedc15afff16d5ed8fb5645681aee7"],
  java: ["tree-sitter-java.wasm", "4fdeac4ca6ca089f06c6f7e562abcac1733cd465728cc7031ebb73c2019122c4"],
  javascript: ["tree-sitter-javascript.wasm", "5fb488d0cabb4775a594bab85682de5ad6ce83c0d6ac997a9f82dd084d571240"],
  php: ["tree-sitter-php.wasm", "d4df6a6ff08c87c3ec4f9cbb785fe09998a0cb570e03f57d7b19b3acfb146aa7"],
  python: ["tree-sitter-python.wasm", "16108b50df4ee9a30168794252ab55e7c93bfc5765d7fa0aa3e335752c515f47"],
  ruby: ["tree-sitter-ruby.wasm", "09a96427d7c72f0613ed470cd9812223fc4a91d6a9c025c0235cc6bd59ff96f4"],
  rust: ["tree-sitter-rust.wasm", "0dac14947cb04d94466e3df659f80a4e264c216a60b3eda175eae4cf12ed7a8d"],
  shell: ["tree-sitter-bash.wasm", "a14e9ed880b2c3f16cd00c796c38d237a3e9b028bdec5b4315c76976e67b01ca"],
  tsx: ["tree-sitter-tsx.wasm", "79e5da75ea62855a0cd67177685f0164eac87d5f630b3cbe1e0a099751ad30f8"],
  typescript: ["tree-sitter-typescript.wasm", "778025db5a8be0e70f8ccc3671e486dfeddd048c25d9e8a70c26de2e1bf6f97d"],
};

/** Every language with its grammar and its rules, as the thread takes them. */
export const LANGUAGES = Object.fromEntries(
  Object.entries(HASHES).map(([name, [file, sha256]]) => [
    name,
    { file, sha256, rules: LANGUAGE_RULES[name as keyof typeof LANGUAGE_RULES] },
  ]),
);

/**
 * What a text may ask of the parser. All of it is counted, none of it timed, so that a file has the same outline on every
 * machine. Code needs a step for about two hundred characters and brackets less than thirty deep; recovering from errors
 * may take the square of what is read, and memory likewise.
 */
export const OUTLINE_LIMITS = {
  /** Bytes of a file. */
  mostBytes: 1024 * 1024,
  /** UTF-16 units of a line: what a program wrote for a machine has no lines to speak of. */
  longestLine: 10_000,
  deepestBrackets: 200,
  leastSteps: 500,
  unitsPerStep: 20,
  /** Steps once something did not parse: about 200 kB of code, and far less of anything else. */
  stepsAfterError: 1000,
  /** Pages of 64 KiB of the parser's memory. */
  firstPages: 512,
  mostPages: 4096,
} as const;
