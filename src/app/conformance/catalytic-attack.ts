import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareCodePoints, isJsonObject, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { errnoCode } from "../../core/errors/system.ts";
import { type CatalyticPorts, type GuardName, type RunResult, runCatalytic } from "../../rooms/catalytic/index.ts";
import type { CatalyticPlaces } from "../compose/compose.ts";
import { type DefaultModes, type FileSpec, inFolder, makeFiles } from "./catalytic-fixture.ts";
import type { AreaPorts } from "./ports.ts";
import { VectorSkipped } from "./runner.ts";

const ENOUGH_BYTES = 256 * 1024 * 1024;
let probed: ReturnType<CatalyticPorts["guards"]["probe"]> | undefined;

/** Runs a real command under each guard and says what came of it; the expectation may differ from guard to guard. */
export async function attack(input: JsonObject, ports: AreaPorts): Promise<JsonValue> {
  const guards = input["guards"] as readonly GuardName[];
  const fixture = ports.vectors?.find(
    (one) => one.area === "catalytic.fixture" && one.input["fixture"] === input["fixture"],
  );
  if (fixture === undefined) throw new VectorSkipped(`the fixture ${String(input["fixture"])} is not in the file`);
  const answers: Record<string, JsonValue> = {};
  const skipped: string[] = [];
  // Each guard has a repository of its own, so they need not wait for each other.
  const found = await Promise.all(guards.map((guard) => attackOnce(ports, input, fixture.input, guard)));
  for (const [i, guard] of guards.entries()) {
    const answer = found[i]!;
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

function attackOnce(
  area: AreaPorts,
  input: JsonObject,
  fixture: JsonObject,
  guard: GuardName,
): Promise<JsonValue | string> {
  return inFolder(
    area,
    async (base) => {
      const root = join(base, "repo");
      mkdirSync(root);
      writeFileSync(join(base, "victim"), "victim\n");
      await makeFiles(area, root, given<FileSpec[]>(fixture["files"]), given<DefaultModes>(fixture["default_mode"]));
      for (const step of (input["setup"] ?? []) as JsonObject[]) await takeStep(area, root, step);
      const env = { ...process.env, XDG_STATE_HOME: join(base, "state"), HOME: base };
      const workspace = area.openWorkspace(root, env);
      try {
        const real = workspace.catalytic();
        // Trying every guard again for each vector, and the product's ledger, would take most of the time.
        const records = { appendRun: async () => undefined, append: async () => undefined };
        probed ??= real.guards.probe(true);
        const ports = { ...real, records, guards: { ...real.guards, probe: () => probed! } };
        const probes = await probed;
        if (probes[guard] !== "ok") return probes[guard] ?? "NOT_THIS_PLATFORM";
        const before = recordOutside(base);
        const jobspec = { ...(input["jobspec"] as JsonObject), guard };
        const answer = await runOnce(ports, workspace.places(), jobspec);
        return isJsonObject(answer) && answer["rejected"] === true
          ? answer
          : { ...(answer as JsonObject), outside_untouched: isUntouched(base, before, jobspec as JsonObject) };
      } finally {
        await workspace.close();
      }
    },
    findMemory(),
  );
}

/** Memory where there is some: runs would wait for the disk to make every journal line durable. */
function findMemory(): string {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > ENOUGH_BYTES ? "/dev/shm" : tmpdir();
  } catch (thrown) {
    if (errnoCode(thrown) === "ENOENT") return tmpdir();
    throw thrown;
  }
}

async function runOnce(ports: CatalyticPorts, places: CatalyticPlaces, jobspec: JsonObject): Promise<JsonValue> {
  try {
    const result = await runCatalytic(ports, { ...places, jobspec });
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

async function takeStep({ tool }: AreaPorts, root: string, step: JsonObject): Promise<void> {
  const at = (name: string) => join(root, String(step[name]));
  switch (step["op"]) {
    case "hardlink":
      linkSync(at("from"), at("to"));
      return;
    case "mkfifo":
      await tool("mkfifo", [at("path")]);
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
  // A folder made for an output that is there now belongs to it.
  const isMadeFor = (path: string) =>
    !before.has(path) && outputs.some((own) => after.has(own) && own.startsWith(`${path}/`));
  return [...new Set([...before.keys(), ...after.keys()])].every(
    (path) => isOwn(path) || before.get(path) === after.get(path) || isMadeFor(path),
  );
}
