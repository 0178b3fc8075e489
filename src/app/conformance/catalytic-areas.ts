import {
  chmodSync,
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
import { dirname, join } from "node:path";
import { createPathLook } from "../../adapters/disk/path-look.ts";
import { runDisk } from "../../adapters/disk/run-disk.ts";
import { runTool } from "../../adapters/process/tool.ts";
import {
  compareCodePoints,
  encodeUtf8,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../core/canonical/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { CATALYTIC_AREAS, preflightArea } from "../../rooms/catalytic/conformance.ts";
import { effectivePolicy } from "../../rooms/catalytic/policy.ts";
import type { CatalyticPorts } from "../../rooms/catalytic/ports.ts";
import { checkPaths, type DeclaredPaths } from "../../rooms/catalytic/preflight.ts";
import { type RunResult, runCatalytic } from "../../rooms/catalytic/run.ts";
import { contentManifest, readTree, stateOf, type Tree } from "../../rooms/catalytic/tree.ts";
import { verifyRun } from "../../rooms/catalytic/verify.ts";
import type { GuardName } from "../../rooms/catalytic/words.ts";
import { openApp } from "../app.ts";
import { createCatalyticPorts, toCatalyticPlaces } from "../catalytic-ports.ts";
import { compose } from "../compose.ts";
import { type AreaFunction, type AreaPorts, VectorSkipped } from "./runner.ts";

interface FileSpec {
  readonly path: string;
  readonly type: "file" | "dir" | "symlink" | "hardlink";
  readonly mode?: string;
  readonly text?: string;
  readonly b64?: string;
  readonly target?: string;
  readonly mtime_ns?: string;
}

/** The areas of the catalytic room, on real disks and with real guards. */
export const CATALYTIC_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = {
  ...CATALYTIC_AREAS,
  "catalytic.preflight": preflight,
  "catalytic.snapshot": snapshot,
  "catalytic.verify": verify,
  "catalytic.fixture": (input) => ({ files: (input["files"] as JsonValue[]).length }),
  "catalytic.attack": attack,
};

async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-vector-")));
  try {
    return await act(folder);
  } finally {
    await runDisk.discard(folder);
  }
}

function makeFiles(root: string, files: readonly FileSpec[], defaults: { dir: string; file: string }): void {
  const modes: [string, number][] = [];
  for (const file of files) {
    const place = file.path === "." ? root : join(root, file.path);
    mkdirSync(dirname(place), { recursive: true });
    if (file.type === "symlink") symlinkSync(file.target ?? "", place);
    else if (file.type === "hardlink") linkSync(join(root, file.target ?? ""), place);
    else {
      if (file.type === "dir") mkdirSync(place, { recursive: true });
      else writeFileSync(place, file.b64 === undefined ? (file.text ?? "") : Buffer.from(file.b64, "base64"));
      modes.push([place, Number.parseInt(file.mode ?? defaults[file.type], 8)]);
    }
  }
  for (const [place, mode] of modes.toReversed()) chmodSync(place, mode);
}

const PLAIN = { dir: "0755", file: "0644" };

function preflight(input: JsonObject): JsonValue | Promise<JsonValue> {
  const files = input["files"];
  if (!Array.isArray(files)) return preflightArea(input);
  return inFolder(async (folder) => {
    makeFiles(folder, files as unknown as FileSpec[], PLAIN);
    const { policy, errors } = effectivePolicy(input["config"] ?? {});
    if (policy === null) return { ok: false, errors: errors as unknown as JsonValue, normalized: null };
    return checkPaths(
      policy,
      input["jobspec"] as unknown as DeclaredPaths,
      createPathLook(folder),
    ) as unknown as JsonValue;
  });
}

function snapshot(input: JsonObject, { crypto }: AreaPorts): Promise<JsonValue> {
  return inFolder(async (folder) => {
    const domain = join(folder, "domain");
    const files = input["files"];
    if (Array.isArray(files)) {
      mkdirSync(domain);
      makeFiles(domain, files as unknown as FileSpec[], PLAIN);
    }
    const options = { strict_mtime: input["strict_mtime"] === true, max_entries: 1_000_000 };
    const tree = (await runDisk.snapshot(domain, options)).entries as Tree;
    const { content_root, tree_root, entries, bytes } = stateOf(crypto, tree);
    const content = Object.fromEntries(contentManifest(tree));
    return {
      tree: Object.fromEntries(tree) as unknown as JsonObject,
      content,
      content_root,
      tree_root,
      entries,
      bytes,
    };
  });
}

async function verify(input: JsonObject, ports: AreaPorts): Promise<JsonValue> {
  const files = new Map<string, Uint8Array>();
  collectFiles(input, ports, files);
  const pins = Object.values((input["pins"] ?? {}) as Record<string, string>);
  const tree = input["tree"];
  const result = await verifyRun(
    ports.crypto,
    { name: String(input["dirname"]), files },
    {
      pins,
      policy_sha256: typeof input["policy_sha256"] === "string" ? input["policy_sha256"] : null,
      strict_tree: input["tree_mode"] === "strict",
      tree: isJsonObject(tree)
        ? () => ({
            outputs: new Map(Object.entries((tree["outputs"] ?? {}) as Record<string, string | null>)),
            domains: new Map(
              Object.entries((tree["domains"] ?? {}) as JsonObject).map(([path, one]) => [path, readTree(one)]),
            ),
          })
        : "skip",
    },
  );
  const { accepted, genuine, verified, condition, signature, tree: state } = result;
  return {
    accepted,
    genuine,
    verified,
    condition,
    signature: signature.state,
    tree: state,
    errors: result.errors.map((one) => [one.code, one.file ?? one.path ?? ""]),
    warnings: result.warnings.map((one) => one.code),
  };
}

function collectFiles(input: JsonObject, ports: AreaPorts, files: Map<string, Uint8Array>): void {
  const base = ports.vectors?.find(({ id }) => id === input["base"]);
  if (base !== undefined) collectFiles(base.input, ports, files);
  for (const [name, text] of Object.entries((input["files"] ?? {}) as Record<string, string>))
    files.set(name, encodeUtf8(text));
  for (const name of (input["delete"] ?? []) as string[]) files.delete(name);
}

let probed: ReturnType<CatalyticPorts["guards"]["probe"]> | undefined;

/** Runs a real command under each guard and says what came of it; the expectation may differ from guard to guard. */
async function attack(input: JsonObject, ports: AreaPorts): Promise<JsonValue> {
  const guards = input["guards"] as readonly GuardName[];
  const fixture = ports.vectors?.find(
    (one) => one.area === "catalytic.fixture" && one.input["fixture"] === input["fixture"],
  );
  if (fixture === undefined) throw new VectorSkipped(`the fixture ${String(input["fixture"])} is not in the file`);
  const answers: Record<string, JsonValue> = {};
  const skipped: string[] = [];
  for (const guard of guards) {
    const answer = await attackOnce(input, fixture.input, guard);
    if (typeof answer === "string") skipped.push(`${guard}: ${answer}`);
    else answers[guard] = answer;
  }
  if (Object.keys(answers).length === 0) throw new VectorSkipped(skipped.join(", "));
  const texts = new Set(Object.values(answers).map((answer) => JSON.stringify(answer)));
  const expected = ports.vectors?.find((one) => one.input === input)?.expected;
  if (isJsonObject(expected) && isJsonObject(expected["all"])) {
    return texts.size === 1 ? { all: Object.values(answers)[0]! } : { by_guard: answers };
  }
  if (isJsonObject(expected) && isJsonObject(expected["by_guard"])) {
    // A guard that does not work here is skipped, not failed.
    const missing = Object.keys(expected["by_guard"]).filter((guard) =>
      skipped.some((line) => line.startsWith(`${guard}:`)),
    );
    for (const guard of missing) answers[guard] = expected["by_guard"][guard]!;
  }
  return { by_guard: answers };
}

function attackOnce(input: JsonObject, fixture: JsonObject, guard: GuardName): Promise<JsonValue | string> {
  return inFolder(async (base) => {
    const root = join(base, "repo");
    mkdirSync(root);
    writeFileSync(join(base, "victim"), "victim\n");
    makeFiles(root, fixture["files"] as unknown as FileSpec[], fixture["default_mode"] as unknown as typeof PLAIN);
    for (const step of (input["setup"] ?? []) as JsonObject[]) await takeStep(root, step);
    const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), HOME: base };
    const composition = compose({ door: "library", start: root, env, platform: process.platform }, () =>
      openApp({ door: "library", start: root, env, platform: process.platform }),
    );
    try {
      const real = createCatalyticPorts(composition);
      // Trying every guard anew for each vector would take most of the time.
      const ports = { ...real, guards: { ...real.guards, probe: () => probed ?? real.guards.probe(true) } };
      probed ??= real.guards.probe(true);
      const probes = await probed;
      if (probes[guard] !== "ok") return probes[guard] ?? "NOT_THIS_PLATFORM";
      const before = recordOutside(base);
      const jobspec = { ...(input["jobspec"] as JsonObject), guard };
      const answer = await runOnce(ports, composition, jobspec);
      return isJsonObject(answer) && answer["rejected"] === true
        ? answer
        : { ...(answer as JsonObject), outside_untouched: isUntouched(base, before, jobspec as JsonObject) };
    } finally {
      await composition.close();
    }
  });
}

async function runOnce(
  ports: ReturnType<typeof createCatalyticPorts>,
  composition: ReturnType<typeof compose>,
  jobspec: JsonObject,
): Promise<JsonValue> {
  try {
    const result = await runCatalytic(ports, { ...toCatalyticPlaces(composition), jobspec });
    return toAnswer(result);
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    const errors = thrown.details?.["errors"];
    if (Array.isArray(errors)) return { rejected: true, errors: errors as JsonValue[] };
    return { rejected: true, errors: [{ code: thrown.code, path: String(thrown.details?.["path"] ?? "") }] };
  }
}

function toAnswer(result: RunResult): JsonObject {
  const { accepted, condition, exit_code, outputs, quarantined, violations } = result;
  return {
    accepted,
    condition,
    exit_code,
    domains_identical: !condition.startsWith("RESTORATION_FAILED"),
    violations: violations.map(({ code, path }) => ({ code, path })),
    published: [...outputs],
    quarantined: [...quarantined].sort(compareCodePoints),
  };
}

async function takeStep(root: string, step: JsonObject): Promise<void> {
  const at = (name: string) => join(root, String(step[name]));
  switch (step["op"]) {
    case "hardlink":
      linkSync(at("from"), at("to"));
      return;
    case "mkfifo":
      await runTool("mkfifo", [at("path")]);
      return;
    case "file": {
      const name = Buffer.from(String(step["path_b64"]), "base64");
      writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), String(step["text"] ?? ""));
      return;
    }
    default:
      throw new VectorSkipped(`the setup step ${String(step["op"])} is not known`);
  }
}

/** Bytes, mode and time of every file and link, mode of every folder; not the tool's own state. */
function recordOutside(base: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (place: Buffer, shown: string) => {
    for (const name of readdirSync(place, { encoding: "buffer" })) {
      const at = Buffer.concat([place, Buffer.from("/"), name]);
      const path = `${shown}/${name.toString("latin1")}`;
      const facts = lstatSync(at, { bigint: true });
      if (facts.isDirectory()) {
        found.set(path, `dir ${facts.mode}`);
        visit(at, path);
      } else if (facts.isSymbolicLink()) found.set(path, `link ${readlinkSync(at)} ${facts.mtimeNs}`);
      else if (facts.isFile())
        found.set(path, `file ${facts.mode} ${facts.mtimeNs} ${readFileSync(at).toString("base64")}`);
      else found.set(path, "other");
    }
  };
  visit(Buffer.from(base), "");
  return found;
}

function isUntouched(base: string, before: ReadonlyMap<string, string>, jobspec: JsonObject): boolean {
  const after = recordOutside(base);
  const declared = isJsonObject(jobspec["outputs"]) ? (jobspec["outputs"]["durable_paths"] as string[]) : [];
  const outputs = declared.map((path) => `/repo/${path.replace(/\/$/, "")}`);
  const runs = `/repo/LAW/CONTRACTS/_runs/${String(jobspec["run_id"])}`;
  const isOwn = (path: string) =>
    [...outputs, runs, "/repo/.verbatim", "/state"].some((own) => path === own || path.startsWith(`${own}/`));
  return [...new Set([...before.keys(), ...after.keys()])].every(
    (path) => isOwn(path) || before.get(path) === after.get(path),
  );
}
