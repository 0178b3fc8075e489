import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openApp } from "../../src/app/call.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../../src/app/compose/catalytic-ports.ts";
import { compose } from "../../src/app/compose/compose.ts";
import type { RunRequest } from "../../src/rooms/catalytic/declare/declare.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { type RunResult, runCatalytic } from "../../src/rooms/catalytic/run/run.ts";

// Memory where there is some: hundreds of runs would wait for the disk to make every journal line durable.
const TEMP = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A small repository with every kind of thing a domain may hold, and a file beside it that nobody may touch. */
export function makeCatalyticRepo(): { readonly base: string; readonly root: string } {
  const base = realpathSync(mkdtempSync(join(TEMP, "verbatim-catalytic-")));
  const root = join(base, "repo");
  const domain = join(root, ".verbatim/scratch/d");
  mkdirSync(root);
  // As the product makes it: private from its creation.
  mkdirSync(join(root, ".verbatim"), { mode: 0o700 });
  for (const folder of ["sub/deep", "empty"]) mkdirSync(join(domain, folder), { recursive: true });
  mkdirSync(join(root, ".verbatim/out"), { recursive: true });
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  writeFileSync(join(base, "victim"), "victim\n");
  writeFileSync(join(root, "AGENTS.md"), "agents\n");
  writeFileSync(join(root, ".git/config"), "[core]\n");
  writeFileSync(join(root, "src/app.txt"), "app\n");
  writeFileSync(join(root, ".verbatim/out/old.txt"), "old\n");
  writeFileSync(join(domain, "a.txt"), "alpha\n");
  writeFileSync(join(domain, "sub/b.txt"), "beta\n");
  writeFileSync(join(domain, "sub/deep/c"), "gamma\n");
  writeFileSync(join(domain, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(domain, "run.sh"), 0o755);
  chmodSync(join(domain, "empty"), 0o700);
  symlinkSync("a.txt", join(domain, "link"));
  symlinkSync("../../nowhere", join(domain, "dangling"));
  linkSync(join(domain, "a.txt"), join(domain, "twin"));
  return { base, root };
}

/** Everything about a tree that a person would call its state: bytes, modes, links, times of files, names as bytes. */
export function recordTree(place: string, skip: (path: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (folder: Buffer, shown: string) => {
    for (const name of readdirSync(folder, { encoding: "buffer" })) {
      const at = Buffer.concat([folder, Buffer.from("/"), name]);
      const path = shown === "" ? name.toString("latin1") : `${shown}/${name.toString("latin1")}`;
      if (skip(path)) continue;
      const facts = lstatSync(at, { bigint: true });
      const mode = (facts.mode & 0o7777n).toString(8);
      if (facts.isDirectory()) {
        found[path] = `dir ${mode}`;
        visit(at, path);
      } else if (facts.isSymbolicLink()) found[path] = `link ${readlinkSync(at)}`;
      else if (facts.isFile())
        found[path] = `file ${mode} ${facts.mtimeNs} ${facts.nlink} ${readFileSync(at).toString("base64")}`;
      else found[path] = `other ${mode}`;
    }
  };
  visit(Buffer.from(place), "");
  return found;
}

/** The tool's own state below `.verbatim`, which is not part of what a run must leave alone. */
export function isToolState(path: string): boolean {
  return ["repo/.verbatim/state", "repo/.verbatim/runs", "state", "repo/.verbatim/.gitignore"].some(
    (own) => path === own || path.startsWith(`${own}/`),
  );
}

export interface TestRun {
  readonly ports: CatalyticPorts;
  readonly places: Omit<RunRequest, "jobspec">;
  run(jobspec: object, options?: Partial<RunRequest>): Promise<RunResult>;
  close(): Promise<void>;
}

/** The room on real adapters, in a repository of a test. */
export function openCatalytic(
  base: string,
  root: string,
  change: (ports: CatalyticPorts) => CatalyticPorts = (ports) => ports,
): TestRun {
  const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), HOME: base };
  const options = { surface: "library", start: root, env, platform: process.platform } as const;
  const composition = compose(options, () => openApp(options));
  const ports = change(createCatalyticPorts(composition));
  const places = toCatalyticPlaces(composition);
  return {
    ports,
    places,
    run: (jobspec, more = {}) => runCatalytic(ports, { ...places, ...more, jobspec: jobspec as never }),
    close: () => composition.close(),
  };
}

/**
 * A room in which something happens while a command is at work: at its first words, and before anybody knows that it has
 * ended, however slow the machine is.
 */
export function openWhile(base: string, root: string, happen: () => unknown): TestRun {
  let settle = (_: unknown) => {};
  const happened = new Promise((resolve) => {
    settle = resolve;
  });
  let hasBegun = false;
  return openCatalytic(base, root, (ports) => ({
    ...ports,
    onOutput() {
      if (hasBegun) return;
      hasBegun = true;
      settle(happen());
    },
    guards: {
      ...ports.guards,
      async launch(request) {
        const running = await ports.guards.launch(request);
        return { ...running, ended: running.ended.then((ending) => happened.then(() => ending)) };
      },
    },
  }));
}

/** A JobSpec over the domain of the test repository. */
export function toJobSpec(command: readonly string[], more: object = {}): object {
  return {
    schema_version: "cmp01-jobspec-1",
    run_id: "run-1",
    job_id: "job-1",
    intent: "Try something",
    determinism: "nondeterministic",
    catalytic_domains: [".verbatim/scratch/d"],
    durable_output_roots: [".verbatim/out"],
    outputs: { durable_paths: [] },
    command,
    ...more,
  };
}
