import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { createLandingFiles } from "../../src/adapters/disk/runs/landing-files.ts";
import { createRunFolders } from "../../src/adapters/disk/runs/run-folders.ts";
import { mergeText } from "../../src/adapters/git/merge-text.ts";
import { createTreeFiles } from "../../src/adapters/git/tree-files.ts";
import type { CandidateFile } from "../../src/rooms/workflow/contracts/candidate.ts";
import type { BaseTree, RepoIdentityPort, RunFolder } from "../../src/rooms/workflow/ports.ts";

const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

/** A file as a test writes it: text, a mode with it, a link, or null for nothing. */
export type Written =
  | string
  | Uint8Array
  | { readonly mode: number; readonly text: string }
  | { readonly to: string }
  | null;

/** What a process of its own needs to know to land in the same place. */
export interface LandingPlaces {
  readonly root: string;
  readonly run: string;
  readonly content: string;
}

const identity: RepoIdentityPort = {
  current: () => null,
  settle: () => ({ repo_id: "0".repeat(32), root: "/nowhere", common_dir: null }),
  livesAt: () => false,
};

/** Real ports over some places. */
export function landingPorts({ root, content }: LandingPlaces) {
  return {
    files: createLandingFiles(root),
    trees: createTreeFiles(root),
    merge: mergeText,
    content: createContentStore({ folder: content, crypto: nodeCrypto, clock: { now: () => 0 } }),
    crypto: nodeCrypto,
    random: { bytes: (count: number) => new Uint8Array(randomBytes(count)) },
  };
}

/** A run directory that exists. */
export function openRun(dir: string): RunFolder {
  const places = { runsRoot: dirname(dir), slug: "x", repoRoot: "/nowhere", identity };
  return createRunFolders(places).openPath(dir)!;
}

/** A repository, a base, and candidates against it. */
export class LandingRepo {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-landing-")));
  readonly root = join(this.folder, "repo");
  readonly places: LandingPlaces = {
    root: this.root,
    run: join(this.folder, "run"),
    content: join(this.folder, "content"),
  };
  readonly ports = landingPorts(this.places);
  base: BaseTree = { tree: "", objects: null };

  constructor(files: Readonly<Record<string, Written>>) {
    mkdirSync(this.root);
    mkdirSync(this.places.run);
    writeFileSync(join(this.places.run, "RUN.json"), "{}\n");
    this.git("init", "-q");
    this.write(files);
    this.commit();
  }

  get run(): RunFolder {
    return openRun(this.places.run);
  }

  git(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync("git", ["-c", "protocol.file.allow=always", ...args], {
      cwd: this.root,
      env: ENV,
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`);
    return stdout.toString();
  }

  /** What is there now is the base. */
  commit(): void {
    this.git("add", "-A");
    this.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x");
    this.base = { tree: this.git("rev-parse", "HEAD^{tree}").trim(), objects: null };
  }

  write(files: Readonly<Record<string, Written>>): void {
    for (const [path, file] of Object.entries(files)) {
      const place = join(this.root, path);
      rmSync(place, { recursive: true, force: true });
      if (file === null) continue;
      mkdirSync(dirname(place), { recursive: true });
      if (typeof file === "object" && "to" in file) symlinkSync(file.to, place);
      else if (typeof file === "object" && "mode" in file) {
        writeFileSync(place, file.text);
        chmodSync(place, file.mode);
      } else writeFileSync(place, file);
    }
  }

  /** A candidate that leaves these files. */
  async candidate(files: Readonly<Record<string, Written>>): Promise<CandidateFile[]> {
    return Promise.all(
      Object.entries(files).map(async ([path, file]): Promise<CandidateFile> => {
        const rest = { path, operation: "modify", kind: "text", added: 0, deleted: 0 } as const;
        if (file === null) return { ...rest, operation: "delete", bytes: 0, sha256: null, mode: null };
        const isLink = typeof file === "object" && "to" in file;
        const isMode = typeof file === "object" && "mode" in file;
        const bytes = Buffer.from(isLink ? file.to : isMode ? file.text : (file as string));
        const sha256 = await this.ports.content.put(bytes);
        const mode = isLink ? "120000" : isMode && (file.mode & 0o100) !== 0 ? "100755" : "100644";
        return { ...rest, bytes: bytes.length, sha256, mode };
      }),
    );
  }

  /** Everything in the tree with its mode, and the index, but not the rest of `.git`. */
  manifest(): Record<string, string> {
    const all: Record<string, string> = {};
    const visit = (folder: string) => {
      for (const name of readdirSync(join(this.root, folder)).sort()) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (path === ".git") continue;
        const place = join(this.root, path);
        const facts = lstatSync(place);
        const mode = (facts.mode & 0o7777).toString(8);
        if (facts.isSymbolicLink()) all[path] = `-> ${readlinkSync(place)}`;
        else if (facts.isDirectory()) {
          all[`${path}/`] = mode;
          visit(path);
        } else all[path] = `${mode} ${createHash("sha256").update(readFileSync(place)).digest("hex")}`;
      }
    };
    visit("");
    all[".git/index"] = createHash("sha256")
      .update(readFileSync(join(this.root, ".git/index")))
      .digest("hex");
    return all;
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
