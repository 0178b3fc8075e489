import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createGitWork } from "../../src/adapters/git/work-tree.ts";
import { openApp } from "../../src/app/call.ts";
import { createCatalyticPorts } from "../../src/app/compose/catalytic-ports.ts";
import { type Composition, compose } from "../../src/app/compose/compose.ts";
import { chooseVerificationPlace, type PlaceRequest } from "../../src/app/compose/verification/verification-places.ts";
import type { GuardName } from "../../src/rooms/catalytic/index.ts";
import type {
  GateDone,
  VerificationEnd,
  VerificationPlace,
  ViewWrite,
  WrittenPath,
} from "../../src/rooms/workflow/ports.ts";
import { planWrites } from "../../src/rooms/workflow/verification/writes.ts";

/** A small Node project: one dependency in an ignored node_modules, a test that needs it. */
export interface NodeRepo {
  readonly base: string;
  readonly root: string;
  git(...args: string[]): string;
  write(path: string, text: string, mode?: number): void;
}

const LEFTISH = 'module.exports = (text, n) => text.padStart(n, "0");\n';
const DATE = 'const leftish = require("leftish");\nexports.day = (n) => leftish(String(n), 1);\n';
const TEST =
  'const { day } = require("./src/date.js");\nif (day(7) !== "07") { console.error(`expected "07", got "${day(7)}"`); process.exit(1); }\nconsole.log("ok");\n';

/** `src/date.js` as the test wants it. */
export const MENDED = DATE.replace("String(n), 1", "String(n), 2");

// Memory where there is some: nothing of it has to survive.
const TEMP = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Below the temporary folder on request, which a view replaces by a private one. */
export function makeNodeRepo(parent = TEMP): NodeRepo {
  const base = realpathSync(mkdtempSync(join(parent, "verbatim-verify-")));
  const root = join(base, "harbour");
  mkdirSync(root);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Mira", "-c", "user.email=mira@example.org", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const write = (path: string, text: string, mode?: number) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (mode !== undefined) chmodSync(join(root, path), mode);
  };
  git("init", "-q");
  write(
    "package.json",
    `${JSON.stringify({ name: "harbour", scripts: { test: "node test.js" }, dependencies: { leftish: "1.0.0" } })}\n`,
  );
  write(".gitignore", "node_modules/\n.cache/\n*.log\n");
  write("node_modules/leftish/package.json", '{"name":"leftish","version":"1.0.0"}\n');
  write("node_modules/leftish/index.js", LEFTISH);
  write(".cache/warm", "warm\n");
  write("src/date.js", DATE);
  write("test.js", TEST);
  write("docs/old/a.txt", "a\n");
  write("docs/old/b.txt", "b\n");
  write("plain", "plain\n");
  write("run.sh", "#!/bin/sh\n", 0o755);
  symlinkSync("src/date.js", join(root, "link"));
  git("add", ".");
  git("commit", "-qm", "first");
  return { base, root, git, write };
}

/** What the first look at the guards of this machine found: trying all of them takes a second. */
const found = new Map<string, Uint8Array>();

/** Everything wired over one repository, without starting anything. */
export function openComposition({ base, root }: Pick<NodeRepo, "base" | "root">): Composition {
  const env = {
    PATH: process.env["PATH"] ?? "",
    XDG_STATE_HOME: join(base, "state"),
    XDG_CONFIG_HOME: join(base, "config"),
    HOME: base,
  };
  const options = { surface: "library", start: root, env, platform: process.platform } as const;
  const composition = compose(options, () => openApp(options));
  const guards = join(root, ".verbatim/state/guards.json");
  const known = found.get(dirname(base));
  if (known !== undefined) {
    mkdirSync(dirname(guards), { recursive: true, mode: 0o700 });
    writeFileSync(guards, known);
  }
  const close = async () => {
    if (existsSync(guards)) found.set(dirname(base), readFileSync(guards));
    await composition.close();
  };
  return Object.assign(Object.create(composition) as Composition, { close });
}

/** Skips a test where a guard does not work, and says which one. */
export async function needGuard(
  composition: Composition,
  guard: GuardName,
  skip: (note: string) => never,
): Promise<void> {
  const answer = (await createCatalyticPorts(composition).guards.probe(false))[guard] ?? "NOT_THIS_PLATFORM";
  if (answer !== "ok") skip(`${guard}: ${answer}`);
}

/** The tree of the working state, as an agent run takes it for its base. */
export async function takeBase({ base, root }: Pick<NodeRepo, "base" | "root">) {
  const git = createGitWork(root);
  const objects = join(base, "objects");
  return { tree: await git.writeWorkingTree(objects, true), objects, commit: (await git.head()).commit };
}

export type Base = Awaited<ReturnType<typeof takeBase>>;

export function choosePlace(
  composition: Composition,
  { base, root }: Pick<NodeRepo, "base" | "root">,
  { commit, ...tree }: Base,
  more: Partial<PlaceRequest> = {},
): Promise<VerificationPlace> {
  return chooseVerificationPlace(composition, {
    base: "auto",
    copy_max: 5_000_000_000,
    caps: { memory: 4_000_000_000, processes: 2048, disk: 4_000_000_000 },
    guard: null,
    network: null,
    masks: null,
    git: createGitWork(root),
    checkout: { folder: join(base, "checkouts"), base: tree, commit },
    ...more,
  });
}

/** Puts the bytes of a candidate where a capture would have put them. */
export async function toCandidate(
  composition: Composition,
  files: Readonly<Record<string, string | { link: string } | { exec: string } | null>>,
): Promise<ViewWrite[]> {
  const content = await composition.content("append");
  const writes: ViewWrite[] = [];
  for (const [path, value] of Object.entries(files)) {
    if (value === null) writes.push({ path, mode: null });
    else if (typeof value === "string")
      writes.push({ path, mode: "100644", sha256: await content.put(Buffer.from(value)) });
    else if ("link" in value) writes.push({ path, mode: "120000", target: value.link });
    else writes.push({ path, mode: "100755", sha256: await content.put(Buffer.from(value.exec)) });
  }
  return writes;
}

export interface Tried {
  readonly written: readonly WrittenPath[];
  readonly done: GateDone;
  readonly end: VerificationEnd;
  readonly stdout: string;
  readonly stderr: string;
}

/** Until somebody puts the flag into the folder of the tool, which the command sees as it really is. */
const WAIT = "until [ -e .verbatim/flag ]; do sleep 0.05; done";

/** Writes a candidate into a place and runs one shell command there; `during` is done before everything is over. */
export async function tryPlace(
  place: VerificationPlace,
  base: Base,
  candidate: readonly ViewWrite[],
  command: string,
  during: (() => void) | null = null,
): Promise<Tried> {
  const env = { PATH: process.env["PATH"] ?? "", VERBATIM_RUN: "run-1" };
  const toWork = (gate: string, text: string) => ({
    gate,
    commands: [{ argv: ["/bin/sh", "-c", text], cwd: ".", timeout_s: 60 }],
    looks: [],
  });
  const works = [toWork("lite", command), ...(during === null ? [] : [toWork("wait", WAIT)])];
  const writes = planWrites(await place.freeze(base), candidate);
  const session = await place.open({ writes, works, env, intent: "Verify a candidate" }, new AbortController().signal);
  try {
    const written = await session.written();
    const done = await session.next();
    during?.();
    const end = await session.close();
    const [first] = done.results;
    const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("utf8");
    return { written, done, end, stdout: text(first?.stdout), stderr: text(first?.stderr) };
  } finally {
    await session.close();
    await place.close();
  }
}
