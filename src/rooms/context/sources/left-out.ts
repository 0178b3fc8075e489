/** Why a file that git tracks is not a source where no configuration names any. */
export const LEFT_OUT_REASONS = [
  "binary",
  "excluded",
  "generated",
  "large",
  "link",
  "lock",
  "name",
  "secret",
  "vendored",
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

interface LeftOutRule {
  readonly reason: LeftOutReason;
  /** Names of folders: everything below one of them. */
  readonly folders?: readonly string[];
  /** Names of files. */
  readonly names?: readonly string[];
  /** How the name of a file ends, in any case. */
  readonly endings?: readonly string[];
}

/** What nobody wrote here by hand, or nobody reads as text. The first rule that fits says why; docs/rooms/context.md lists them. */
const LEFT_OUT: readonly LeftOutRule[] = [
  {
    reason: "vendored",
    folders: [
      ".venv",
      ".yarn",
      "Carthage",
      "Pods",
      "bower_components",
      "node_modules",
      "site-packages",
      "third-party",
      "third_party",
      "vendor",
      "venv",
    ],
  },
  {
    reason: "lock",
    names: [
      "Cargo.lock",
      "Gemfile.lock",
      "Package.resolved",
      "Pipfile.lock",
      "Podfile.lock",
      "bun.lock",
      "bun.lockb",
      "composer.lock",
      "deno.lock",
      "flake.lock",
      "go.sum",
      "go.work.sum",
      "gradle.lockfile",
      "mix.lock",
      "npm-shrinkwrap.json",
      "package-lock.json",
      "packages.lock.json",
      "pdm.lock",
      "pnpm-lock.yaml",
      "poetry.lock",
      "pubspec.lock",
      "uv.lock",
      "yarn.lock",
    ],
  },
  {
    reason: "generated",
    folders: [
      ".cache",
      ".next",
      ".nuxt",
      ".svelte-kit",
      ".turbo",
      "__generated__",
      "__pycache__",
      "__snapshots__",
      "coverage",
      "dist",
      "generated",
    ],
    endings: [
      ".designer.cs",
      ".g.cs",
      ".g.dart",
      ".map",
      ".min.css",
      ".min.js",
      ".min.mjs",
      ".pb.cc",
      ".pb.go",
      ".pb.h",
      ".snap",
      ".tsbuildinfo",
      "_pb2.py",
      "_pb2_grpc.py",
    ],
  },
  {
    // Known by their names, so that they are not read to find it out; any other binary file is known by its bytes.
    reason: "binary",
    endings: [
      ".7z",
      ".avif",
      ".bmp",
      ".class",
      ".db",
      ".dll",
      ".dylib",
      ".eot",
      ".exe",
      ".gif",
      ".gz",
      ".ico",
      ".jar",
      ".jpeg",
      ".jpg",
      ".mp3",
      ".mp4",
      ".o",
      ".otf",
      ".pdf",
      ".png",
      ".pyc",
      ".so",
      ".sqlite",
      ".tar",
      ".tgz",
      ".tif",
      ".tiff",
      ".ttf",
      ".wasm",
      ".wav",
      ".webm",
      ".webp",
      ".woff",
      ".woff2",
      ".xz",
      ".zip",
      ".zst",
    ],
  },
];

/** Why the path alone leaves a file out, or null. */
export function findLeftOut(path: string): LeftOutReason | null {
  const names = path.split("/");
  const name = names.pop()!;
  const lower = name.toLowerCase();
  for (const { reason, folders = [], names: files = [], endings = [] } of LEFT_OUT) {
    if (files.includes(name) || names.some((folder) => folders.includes(folder))) return reason;
    if (endings.some((ending) => lower.endsWith(ending))) return reason;
  }
  return null;
}

/** What git looks at to tell binary files. */
const LOOKED_AT = 8000;

/** Whether bytes are those of a binary file, as git sees it. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, LOOKED_AT).includes(0);
}
