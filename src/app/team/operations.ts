import { z } from "zod";
import { uuid } from "../../core/contracts/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../core/operation.ts";
import { LOG_LEVELS } from "./log.ts";
import { repositoryName, workspaceName } from "./names.ts";
import { type TeamPorts, WORK_KINDS } from "./ports.ts";
import { QUEUE_OPERATIONS } from "./queue-operations.ts";
import { TOKEN_OPERATIONS } from "./token-operations.ts";

const login = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[^\u0000-\u001f\u007f]+$/);

const workspaceAdd = defineOperation({
  name: "team.workspace-add",
  summary: "Makes a workspace in a team's database, or gives one that is there to more logins.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    name: workspaceName,
    login: z.array(login).max(100).default([]).describe("Login of the database that may work in it."),
  }),
  output: z.strictObject({
    where: z.string(),
    id: uuid.describe("The id of the workspace, which is that of its ledger."),
    name: workspaceName,
    existing: z.boolean(),
    logins: z.array(z.string()).describe("All logins that may work in it."),
  }),
  async run(ports: TeamPorts, input) {
    const added = await ports.addWorkspace(input.name, input.login);
    return { ...added, logins: [...added.logins] };
  },
});

const repository = z.strictObject({
  id: uuid,
  name: repositoryName,
  remote: z.string(),
  default_branch: z.string(),
  roots: z.array(z.string()),
});

const repositoryAdd = defineOperation({
  name: "team.repository-add",
  summary: "Registers a git repository with a workspace, so that jobs can change its files.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    name: repositoryName,
    remote: z.string().min(1).max(1000).describe("Address of the git remote, without a password."),
    branch: z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]{0,200}$/)
      .default("main")
      .describe("Default branch."),
  }),
  output: repository.extend({ existing: z.boolean() }),
  async run(ports: TeamPorts, { name, remote, branch }) {
    const added = await ports.addRepository(name, remote, branch);
    return { ...added, roots: [...added.roots] };
  },
});

const repositoryList = defineOperation({
  name: "team.repository-list",
  summary: "Lists the repositories of a workspace.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({ repositories: z.array(repository) }),
  async run(ports: TeamPorts) {
    return { repositories: (await ports.listRepositories()).map((one) => ({ ...one, roots: [...one.roots] })) };
  },
});

const label = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/);

const MIN_FREE = 2 * 1024 ** 3;

const worker = defineOperation({
  name: "team.worker",
  summary: "Works on the jobs of a team until interrupted; what they change becomes commits at the remote.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    repository: z.array(repositoryName).max(100).default([]).describe("Repository to serve (default: all)."),
    label: z.array(label).min(1).max(20).default(["default"]).describe("What this machine offers."),
    slots: z.int().min(1).max(16).default(1).describe("How many jobs may run at the same time."),
    grace: z
      .int()
      .min(0)
      .max(600)
      .default(20)
      .describe("Seconds that a step may go on after a signal before it is ended and restored."),
    min_free: z
      .int()
      .min(0)
      .default(MIN_FREE)
      .describe("Bytes that must be free where it works; with fewer it takes no job."),
    wait: z
      .int()
      .min(0)
      .max(86_400)
      .default(600)
      .describe("Seconds to wait for the database at the start; with --once it is not waited for."),
    once: z.boolean().default(false).describe("Stop when no job is waiting."),
    kinds: z
      .array(z.enum(WORK_KINDS))
      .min(1)
      .default(["read", "effect", "agent"])
      .describe("What it takes: read, effect (jobs that write), agent, land (merges into branches); repeatable."),
    agent_env: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
      .max(100)
      .default([])
      .describe("A variable of the worker that agents get, such as a key; repeatable."),
    agent_host: z
      .array(z.string().min(1).max(300))
      .max(200)
      .default([])
      .describe("A host that agents may reach besides those of their profile; repeatable."),
    health: z
      .string()
      .max(300)
      .optional()
      .describe("Address HOST:PORT for /healthz, /readyz and /metrics, which ask for no token (default: none)."),
    log_level: z
      .enum(LOG_LEVELS)
      .optional()
      .describe("How much it writes to standard error, a JSON object a line (default: VERBATIM_LOG_LEVEL, else info)."),
  }),
  output: z.strictObject({ worker: z.string(), jobs: z.int() }),
  run: (
    ports: TeamPorts,
    { repository, label: labels, slots, once, grace, min_free, wait, kinds, agent_env, agent_host, health, log_level },
  ) =>
    ports.work({
      health: health ?? null,
      log_level,
      kinds,
      agent_env,
      agent_hosts: agent_host,
      repositories: repository,
      labels,
      slots,
      once,
      grace_ms: grace * 1000,
      min_free,
      wait_ms: once ? 0 : wait * 1000,
    }),
});

const workerList = defineOperation({
  name: "team.worker-list",
  summary: "Lists the workers of a workspace, what they offer, and why one takes no job.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({
    workers: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(["ready", "paused", "draining", "gone"]).describe("gone: it said nothing for 15 seconds."),
        reason: z.string().nullable(),
        labels: z.array(z.string()),
        repositories: z.array(z.string()),
        slots: z.int(),
        busy: z.int(),
        version: z.string(),
        silent_ms: z.int(),
      }),
    ),
  }),
  async run(ports: TeamPorts) {
    const rows = await ports.listWorkers();
    return { workers: rows.map((row) => ({ ...row, labels: [...row.labels], repositories: [...row.repositories] })) };
  },
});

const workerDrain = defineOperation({
  name: "team.worker-drain",
  summary: "Tells a worker to take no new job, and to end when it is idle.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ name: z.string().min(1).max(200).describe("Name of the worker, as worker list says it.") }),
  output: z.strictObject({ name: z.string() }),
  async run(ports: TeamPorts, { name }) {
    await ports.drainWorker(name);
    return { name };
  },
});

/** Everything under `team.` */
export const TEAM_OPERATIONS = [
  workspaceAdd,
  repositoryAdd,
  repositoryList,
  worker,
  workerList,
  workerDrain,
  ...QUEUE_OPERATIONS,
  ...TOKEN_OPERATIONS,
] as const;
