import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../core/canonical/index.ts";
import { VerbatimError } from "../../core/errors/index.ts";
import {
  AGENT_RUN_FILE,
  type AgentPolicy,
  isRunId,
  PLAN_FILE,
  type PolicySources,
  resolveAgentPolicy,
  toRepoSlug,
  validatePlan,
} from "../../rooms/workflow/index.ts";
import type { Workspace } from "../config/workspace.ts";
import type { HookPorts } from "./ports.ts";

/** Roots nobody may write through a hook, whatever is configured. */
const ALWAYS_FORBIDDEN = [".git", ".verbatim", "verbatim.config.json"];

/** The run a hook belongs to. */
export interface HookRun {
  readonly id: string;
  readonly dir: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly allow_roots: readonly string[];
  readonly deny_prefixes: readonly string[];
  readonly deny_suffixes: readonly string[];
  /** What an agent run may change; null: the run is not one of `verbatim agent`. */
  readonly policy: AgentPolicy | null;
}

/** What a tool call is judged by. */
export interface HookRules {
  readonly root: string;
  readonly forbidden: readonly string[];
  /** Absolute places outside the root that may be written. */
  readonly keep: readonly string[];
  readonly run: HookRun | null;
}

/** Reads the rules of a workspace and of the run in the environment. Anything unreadable throws, so that it blocks. */
export async function readHookRules(
  ports: HookPorts,
  workspace: Workspace,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): Promise<HookRules> {
  const config = await readConfig(ports, workspace);
  const forbidden = readTexts(config, "catalytic", "forbidden_roots");
  const keep = readTexts(config, "agent", "keep").map((path) =>
    path.startsWith("~/") ? join(homedir(), path.slice(2)) : path,
  );
  const id = env["VERBATIM_RUN"];
  return {
    root: workspace.root,
    forbidden: [...ALWAYS_FORBIDDEN, ...forbidden.map((path) => path.replace(/\/+$/, ""))],
    keep,
    run: id === undefined || id === "" ? null : readRun(ports, workspace, config, id, env, platform),
  };
}

/**
 * The configuration, judged in full once per content: the check needs a library whose loading would take most of
 * the time a hook has, so that it passed is kept as a file named by the content's hash.
 */
async function readConfig(ports: HookPorts, workspace: Workspace): Promise<JsonObject> {
  if (!existsSync(workspace.config)) return {};
  const bytes = readFileSync(workspace.config);
  const mark = join(workspace.state, `config-${ports.sha256(bytes)}`);
  if (!existsSync(mark)) {
    const { parseConfig } = await import("../config/config.ts");
    parseConfig(bytes);
    // A hook outside a repository makes no workspace.
    if (existsSync(workspace.state) || (workspace.workTree !== null && ports.createStateFolder(workspace))) {
      markJudged(mark);
    }
  }
  return parseJson(bytes) as JsonObject;
}

// Inside an agent's view the state folder is read-only: then the configuration is judged each time.
function markJudged(mark: string): void {
  try {
    writeFileSync(mark, "", { mode: 0o600 });
  } catch (thrown) {
    if (!["EROFS", "EACCES", "EPERM"].includes((thrown as NodeJS.ErrnoException).code ?? "")) throw thrown;
  }
}

function readTexts(config: JsonObject, room: string, key: string): string[] {
  const part = config[room];
  const value = isJsonObject(part) ? part[key] : undefined;
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function readRun(
  ports: HookPorts,
  workspace: Workspace,
  config: JsonObject,
  id: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): HookRun {
  const dir = isRunId(id) ? findRunDir(ports, workspace, config, id, env, platform) : null;
  if (dir === null) throw refuseRun(`this repository has no run ${JSON.stringify(id)}`);
  const run = parseJson(readFileSync(join(dir, "RUN.json")));
  if (!isJsonObject(run) || run["run_id"] !== id) throw refuseRun(`RUN.json of ${id} cannot be read`);
  if (run["stop_reason"] !== null || run["status"] === "pass") throw refuseRun(`the run ${id} has ended`);
  const { value: plan } = validatePlan(readFileSync(join(dir, ...PLAN_FILE.split("/"))), {
    kind: "signed",
    knownGates: null,
  });
  const policy = run["policy"];
  if (plan === null || !isJsonObject(policy)) throw refuseRun(`the run ${id} has no signed plan`);
  return {
    id,
    dir,
    allow: plan.scope_allow,
    deny: plan.scope_deny,
    allow_roots: requireTexts(policy["allow_roots"], id),
    deny_prefixes: requireTexts(policy["deny_prefixes"], id),
    deny_suffixes: requireTexts(policy["deny_suffixes"], id),
    policy: readPolicy(dir, id, config),
  };
}

/** The policy that the gate will judge by: the configuration, and what the run permits. */
function readPolicy(dir: string, id: string, config: JsonObject): AgentPolicy | null {
  const place = join(dir, ...AGENT_RUN_FILE.split("/"));
  if (!existsSync(place)) return null;
  const record = parseJson(readFileSync(place));
  const request = isJsonObject(record) && record["run_id"] === id ? record["request"] : undefined;
  if (!isJsonObject(request)) throw refuseRun(`run.json of ${id} cannot be read`);
  const agent = isJsonObject(config["agent"]) ? config["agent"] : {};
  // Judged in full before, with the rest of the configuration.
  const { policy: own, patch } = agent as Pick<PolicySources, "patch"> & { policy?: PolicySources["config"] };
  return resolveAgentPolicy({ config: own, patch, permit: requireTexts(request["permit"], id) });
}

/** The directory of a run of this repository, or null. */
function findRunDir(
  ports: HookPorts,
  workspace: Workspace,
  config: JsonObject,
  id: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): string | null {
  const part = config["workflow"];
  const configured = isJsonObject(part) ? part["runs_root"] : undefined;
  const runsRoot = typeof configured === "string" ? configured : null;
  const slug = toRepoSlug(basename(workspace.root), (name) => ports.sha256(name));
  const isInView = (env["VERBATIM_RUN_ID"] ?? "") !== "";
  return ports.findRunDir({ workspace, env, platform, runsRoot, slug, isInView }, id);
}

function requireTexts(value: JsonValue | undefined, id: string): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw refuseRun(`the policy of the run ${id} cannot be read`);
}

function refuseRun(message: string): VerbatimError {
  return new VerbatimError("HOOK_RUN_INVALID", { message, where: "VERBATIM_RUN" });
}
