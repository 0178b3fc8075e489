import { compareCodePoints, isJsonObject, type JsonValue, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { RUN_MARKERS } from "../contracts/constants.ts";
import { readPolicy } from "../declare/declare.ts";
import { isRunId } from "../declare/jobspec-fields.ts";
import type { RoomPorts } from "../operations/ports.ts";
import { readQuarantine } from "../outputs/publish.ts";
import { placeOf } from "../run/places.ts";
import { readArtifact, readRecord } from "./record-files.ts";

/** Where the record of a run lies, and the root it belongs to when that is known. */
export interface RecordPlace {
  readonly name: string;
  readonly record: string;
  readonly root: string | null;
}

/** Finds a run by its id or by its directory, or throws RUN_NOT_FOUND. */
export function toRecordPlace(ports: RoomPorts, run: string): RecordPlace {
  const { disk, folder } = ports;
  if (isRunId(run)) {
    const { root, config } = ports.places();
    const record = `${placeOf(root, readPolicy(config).policy.runs_root)}/${run}`;
    if (disk.stat(record)?.kind === "dir") return { name: run, record, root };
  }
  const record = withoutDots(run.startsWith("/") ? run : `${folder}/${run}`);
  const isRun = folder !== null && RUN_MARKERS.some((name) => disk.stat(`${record}/${name}`) !== null);
  if (!isRun || disk.stat(record)?.kind !== "dir") {
    throw new VerbatimError("RUN_NOT_FOUND", { message: `there is no run ${JSON.stringify(run)}`, where: run });
  }
  return { name: record.slice(record.lastIndexOf("/") + 1), record, root: findRoot(ports, record) };
}

/** An absolute place without `.`, `..` and empty components: the last one is the name of the run. */
function withoutDots(place: string): string {
  const kept: string[] = [];
  for (const name of place.split("/")) {
    if (name === "..") kept.pop();
    else if (name !== "" && name !== ".") kept.push(name);
  }
  return `/${kept.join("/")}`;
}

/** The root of a record outside the workspace: the folder above its runs root, if the policy says where that is. */
function findRoot({ disk }: RoomPorts, record: string): string | null {
  const policy = readArtifact(disk, record, "POLICY.json");
  const runs = policy?.["runs_root"];
  const parent = record.slice(0, record.lastIndexOf("/"));
  return typeof runs === "string" && parent.endsWith(`/${runs}`) ? parent.slice(0, -runs.length - 1) : null;
}

/** Everything `show` tells about a run. */
export function readRun({ disk }: RoomPorts, { name, record }: RecordPlace) {
  const files = readRecord(disk, record);
  const outputs = readValue(files.get("OUTPUTS.json"));
  const quarantine = readValue(files.get("QUARANTINE.json"));
  return {
    run_id: name,
    jobspec: readValue(files.get("JOBSPEC.json")) ?? null,
    status: readValue(files.get("STATUS.json")) ?? null,
    proof: readValue(files.get("PROOF.json")) ?? null,
    outputs: Array.isArray(outputs) ? [...(outputs as readonly unknown[])] : [],
    quarantined: readQuarantine(quarantine),
  };
}

function readValue(bytes: Uint8Array | undefined): JsonValue | undefined {
  if (bytes === undefined) return undefined;
  try {
    return parseJson(bytes);
  } catch (thrown) {
    if (isVerbatimError(thrown)) return undefined;
    throw thrown;
  }
}

/** The runs of a workspace, newest first. */
export function listRuns(ports: RoomPorts, status: string | null, limit: number) {
  const { root, config } = ports.places();
  const { policy } = readPolicy(config);
  const folder = placeOf(root, policy.runs_root);
  const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : "");
  const all = ports.disk
    .look(root)
    .runNames(policy.runs_root)
    .map((name) => {
      const record = `${folder}/${name}`;
      const [job, state, info] = ["JOBSPEC.json", "STATUS.json", "RUN_INFO.json"].map((file) =>
        readArtifact(ports.disk, record, file),
      );
      const proof = readArtifact(ports.disk, record, "PROOF.json");
      const outputs =
        isJsonObject(proof) && Array.isArray(proof["catalytic_domains"]) ? countOutputs(ports, record) : 0;
      return {
        run_id: name,
        job_id: text(job?.["job_id"]),
        // A status of success without a proof is a run that did not end.
        status:
          proof === null && text(state?.["status"]) === "succeeded"
            ? "unfinished"
            : text(state?.["status"]) || "unfinished",
        condition: text(state?.["condition"]) || null,
        started: text(info?.["timestamp"]) || text(state?.["updated_at"]),
        guard: text(info?.["guard"]) || text(job?.["guard"]),
        outputs,
        proof_hash: text(proof?.["proof_hash"]) || null,
      };
    });
  return all
    .filter((run) => status === null || run.status === status)
    .sort((a, b) => compareCodePoints(b.started, a.started) || compareCodePoints(a.run_id, b.run_id))
    .slice(0, limit);
}

function countOutputs({ disk }: RoomPorts, record: string): number {
  const bytes = disk.read(`${record}/OUTPUTS.json`);
  const value = bytes === null ? null : readValue(bytes);
  return Array.isArray(value) ? value.length : 0;
}
