import type { Noun } from "./verb.ts";

/** One line of the first help page. */
export interface NounEntry {
  readonly noun: string;
  readonly room: string;
  readonly summary: string;
  load(): Promise<{ readonly noun: Noun }>;
}

/** All nouns, in the order of the first help page. Nothing of a room is loaded before its noun is used. */
export const NOUNS: readonly NounEntry[] = [
  {
    noun: "demo",
    room: "start",
    summary: "see it work on a sample repository",
    load: () => import("./nouns/demo.ts"),
  },
  {
    noun: "init",
    room: "start",
    summary: "propose and write the configuration",
    load: () => import("./nouns/init.ts"),
  },
  {
    noun: "doctor",
    room: "start",
    summary: "check this machine and workspace",
    load: () => import("./nouns/doctor.ts"),
  },
  {
    noun: "agent",
    room: "agents",
    summary: "run any agent under contract; list, show, apply, discard",
    load: () => import("./nouns/agent.ts"),
  },
  {
    noun: "hook",
    room: "agents",
    summary: "check the tool calls of coding agents",
    load: () => import("./nouns/hook.ts"),
  },
  {
    noun: "index",
    room: "context",
    summary: "build, verify, status, explain, export",
    load: () => import("./nouns/index.ts"),
  },
  { noun: "section", room: "context", summary: "list and show sections", load: () => import("./nouns/section.ts") },
  {
    noun: "symbol",
    room: "context",
    summary: "names for sections: add, replace, check, repin",
    load: () => import("./nouns/symbol.ts"),
  },
  { noun: "expand", room: "context", summary: "print exact slices", load: () => import("./nouns/expand.ts") },
  { noun: "search", room: "context", summary: "find sections by words", load: () => import("./nouns/search.ts") },
  {
    noun: "catalytic",
    room: "catalytic",
    summary: "run a command, restore everything, prove it",
    load: () => import("./nouns/catalytic.ts"),
  },
  {
    noun: "job",
    room: "jobs",
    summary: "plan, post, run, worker, cancel, status, receipts",
    load: () => import("./nouns/job.ts"),
  },
  {
    noun: "bundle",
    room: "jobs",
    summary: "build, verify, inspect, diff, replay, attest",
    load: () => import("./nouns/bundle.ts"),
  },
  {
    noun: "world",
    room: "world",
    summary: "a world for LLM writers: new, say, beat, demo",
    load: () => import("./nouns/world.ts"),
  },
  {
    noun: "workflow",
    room: "workflow",
    summary: "from a goal to a verified patch: new, next, advance",
    load: () => import("./nouns/workflow.ts"),
  },
  {
    noun: "ledger",
    room: "ledger",
    summary: "show, verify, export, prove",
    load: () => import("./nouns/ledger.ts"),
  },
  {
    noun: "store",
    room: "ledger",
    summary: "the database behind it all: status, migrate, requeue",
    load: () => import("./nouns/store.ts"),
  },
  {
    noun: "keys",
    room: "ledger",
    summary: "signing keys and trust policies",
    load: () => import("./nouns/keys.ts"),
  },
  {
    noun: "repository",
    room: "team",
    summary: "the git repositories of a team's workspace: add, list",
    load: () => import("./nouns/repository.ts"),
  },
  {
    noun: "token",
    room: "team",
    summary: "who may use the HTTP API of a team: add, list, revoke",
    load: () => import("./nouns/token.ts"),
  },
  {
    noun: "worker",
    room: "team",
    summary: "work on the jobs of a team: list, drain",
    load: () => import("./nouns/worker.ts"),
  },
  {
    noun: "workspace",
    room: "team",
    summary: "the workspaces of a team's database: add",
    load: () => import("./nouns/workspace.ts"),
  },
  {
    noun: "contract",
    room: "contracts",
    summary: "list, show and check contract objects",
    load: () => import("./nouns/contract.ts"),
  },
  { noun: "conformance", room: "contracts", summary: "run test vectors", load: () => import("./nouns/conformance.ts") },
  {
    noun: "completion",
    room: "contracts",
    summary: "shell completion script",
    load: () => import("./nouns/completion.ts"),
  },
];
