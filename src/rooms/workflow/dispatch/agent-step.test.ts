// What an agent says becomes an artifact, or a refusal with the code of what went wrong. Agents and models answer from a script.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GOOD_PATCH, GUARDRAILS, SampleRepository } from "../../../../test/support/sample-repository.ts";
import { openWorkflow } from "../../../../test/support/workflow-room.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { ChatModels } from "../../../core/models.ts";
import type { WorkflowPorts } from "../operations/ports.ts";
import type { AgentCommand, AgentCommandResult } from "../ports.ts";
import { advanceRun } from "../run/advance.ts";
import { createRun } from "../run/create-run.ts";
import type { Run } from "../run/run.ts";
import { withSession } from "../run/session.ts";
import { dispatchRole, unfence } from "./agent-step.ts";
import type { NextStep } from "./next-step.ts";

const repository = new SampleRepository();
let room: Awaited<ReturnType<typeof openWorkflow>>;
let run: Run;
let commands: AgentCommand[];

beforeAll(async () => {
  room = await openWorkflow(repository);
  const policy = room.ports.config.patch;
  run = await createRun(room.ports, {
    goal: "greet",
    runId: "a",
    allowDirty: false,
    dispatch: null,
    policy,
    direct: null,
  });
});
afterAll(async () => {
  await room.close();
  await repository.remove();
});

const step = (target: string, owner = "chair"): NextStep => ({
  state: "blocked",
  owner,
  action: "write",
  target,
  code: "MISSING",
  findings: [],
});

type Provider = Parameters<typeof dispatchRole>[2];
interface Script {
  readonly result?: Partial<AgentCommandResult>;
  readonly stdout?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly providers?: object;
  readonly models?: Partial<ChatModels>;
  readonly provider?: Provider;
}

/** Lets the agent write a target; the bytes that were kept, or the refusal. */
async function ask(at: NextStep, script: Script): Promise<unknown> {
  commands = [];
  const { config, env } = room.ports;
  const ports: WorkflowPorts = {
    ...room.ports,
    env: { ...env, SDDAI_AGENT_CMD: "agent {ROLE} {GOAL}", ...script.env },
    config: { ...config, providers: { ...config.providers, ...script.providers } },
    models: { ...room.ports.models, ...script.models },
    agents: {
      run: async (command) => {
        commands.push(command);
        return {
          stdout: Buffer.from(script.stdout ?? ""),
          stderr: Buffer.from(""),
          exit_code: 0,
          ending: "exit",
          ...script.result,
        } as AgentCommandResult;
      },
    },
  };
  return withSession(ports, run.folder, "test", async (session) => {
    await dispatchRole(session, at, script.provider ?? "api_agent", "please");
    return Buffer.from(session.run.read(at.target!)!).toString();
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof VerbatimError)) throw thrown;
    return [thrown.code, thrown.message];
  });
}

const target = "artifacts/guardrails.md";
const lastEvent = () => {
  const lines = Buffer.from(run.folder.read("events.jsonl")!).toString().trimEnd().split("\n");
  return JSON.parse(lines.at(-1)!) as Record<string, unknown>;
};

describe("a command that is an agent", () => {
  it("is given the prompt, a folder of its own and its words, and its output is kept", async () => {
    expect(await ask(step(target), { stdout: GUARDRAILS })).toBe(GUARDRAILS);
    expect(commands[0]).toMatchObject({ argv: ["agent", "chair", "greet"], env: { VERBATIM_RUN: "a" } });
    expect(Buffer.from(commands[0]!.stdin).toString()).toContain("please");
    expect(run.folder.list("logs").length).toBeGreaterThan(0);
    expect(run.folder.list("scratch")).toEqual([]);
  });

  it("may put one fence around everything, which is taken off and told", async () => {
    expect(await ask(step(target), { stdout: `\n\`\`\`md\n${GUARDRAILS}\`\`\`\n` })).toBe(GUARDRAILS);
    const events = Buffer.from(run.folder.read("events.jsonl")!).toString().trimEnd().split("\n");
    const completed = events
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === "PROVIDER_COMPLETED");
    expect(completed.map(({ unfenced }) => unfenced ?? false)).toEqual([false, true]);
  });

  it.each<[string, Script, string, string]>([
    ["fails", { result: { exit_code: 3 } }, "PROVIDER_FAILED", "agent ended with exit code 3"],
    ["takes too long", { result: { ending: "timeout" } }, "PROVIDER_TIMEOUT", "agent took longer than 600 s"],
    [
      "says too much",
      { result: { ending: "too_much_output" } },
      "PROVIDER_FAILED",
      "agent wrote more than 16777216 bytes",
    ],
  ])("that %s is refused, and the run says so", async (_, script, code, message) => {
    expect(await ask(step(target), { stdout: GUARDRAILS, ...script })).toEqual([code, message]);
    expect(lastEvent()).toMatchObject({ event: "PROVIDER_FAILED", code, path: target });
  });

  it("that writes something else than was asked for is refused", async () => {
    expect(await ask(step(target), { stdout: "find_mode: web\n" })).toEqual([
      "PROVIDER_OUTPUT_INVALID",
      expect.stringMatching(/^[A-Z_]+: /),
    ]);
    expect(
      await ask(step("artifacts/diff.patch", "patchmaker"), { stdout: `Here it is:\n${GOOD_PATCH}` }),
    ).toMatchObject(["PROVIDER_OUTPUT_NOT_PATCH", expect.anything()]);
    expect(await ask(step("artifacts/diff.patch", "patchmaker"), { stdout: "" })).toMatchObject([
      "PROVIDER_OUTPUT_NOT_PATCH",
      expect.anything(),
    ]);
  });

  it("that writes a patch is believed to the byte", async () => {
    expect(await ask(step("artifacts/diff.patch", "patchmaker"), { stdout: GOOD_PATCH })).toBe(GOOD_PATCH);
  });

  it("is the special one before the general one, the environment before the configuration", async () => {
    const said = async (owner: string, script: Script) => {
      const at = owner === "chair" ? target : "artifacts/diff.patch";
      await ask(step(at, owner), { stdout: owner === "chair" ? GUARDRAILS : GOOD_PATCH, ...script });
      return commands[0]?.argv[0];
    };
    const configured = {
      api_agent: { ...room.ports.config.providers.api_agent, plan_cmd: "plan", patch_cmd: "patch", agent_cmd: "any" },
    };
    const env = { SDDAI_PLAN_CMD: "env-plan", SDDAI_PATCH_CMD: "env-patch" };
    expect(await said("chair", { env, providers: configured })).toBe("env-plan");
    expect(await said("patchmaker", { env, providers: configured })).toBe("env-patch");
    expect(await said("fixer", { env, providers: configured })).toBe("env-patch");
    expect(await said("chair", { providers: configured })).toBe("agent");
    const none = { SDDAI_AGENT_CMD: "" };
    expect(await said("chair", { env: none, providers: configured })).toBe("plan");
    expect(await said("fixer", { env: none, providers: configured })).toBe("patch");
    const general = { api_agent: { ...configured.api_agent, plan_cmd: null, patch_cmd: null } };
    expect(await said("chair", { env: none, providers: general })).toBe("any");
    const nothing = { api_agent: { ...general.api_agent, agent_cmd: null } };
    expect(await ask(step(target), { env: none, providers: nothing })).toEqual([
      "PROVIDER_NOT_CONFIGURED",
      "no command is configured for chair",
    ]);
  });
});

describe("a run whose agent fails", () => {
  const drive = async (id: string, fail: () => Promise<never>) => {
    const { config } = room.ports;
    const dispatch = { ...config.dispatch, mode: "api_agent" };
    const ports = {
      ...room.ports,
      env: { ...room.ports.env, SDDAI_AGENT_CMD: "agent" },
      agents: { run: fail },
    } as WorkflowPorts;
    const bytes = Buffer.from(JSON.stringify(dispatch));
    const driven = await createRun(ports, {
      goal: "g",
      runId: id,
      allowDirty: false,
      dispatch: bytes,
      policy: config.patch,
      direct: null,
    });
    const options = { maxSteps: 4, apply: false, retryVerify: false };
    return withSession(ports, driven.folder, "test", (session) => advanceRun(session, options));
  };
  const refused = (code: "PROVIDER_FAILED" | "DISK_FULL") => () =>
    Promise.reject(new VerbatimError(code, { message: "no" }));

  it("asks a person instead", async () => {
    let asked = 0;
    const steps = await drive("asks", () => {
      asked++;
      return refused("PROVIDER_FAILED")();
    });
    expect(asked).toBe(1);
    expect(steps.at(-1)).toMatchObject({ target, result: expect.stringMatching(/^waiting for chair: outbox\//) });
  });

  it("but does not take another failure for that of an agent", async () => {
    await expect(drive("full", refused("DISK_FULL"))).rejects.toMatchObject({ code: "DISK_FULL" });
    await expect(drive("broken", () => Promise.reject(new TypeError("broken")))).rejects.toThrow(TypeError);
  });
});

describe("a model that is an agent", () => {
  const ollama_agent = { base_url: "http://o", model: "m", timeout_s: 7 };
  const openai_agent = { ...ollama_agent, api_key_env: "SAMPLE_KEY" };
  const model = (seen: unknown[], text: string) => (settings: unknown) => ({
    complete: async (request: { timeout_ms: number }) => {
      seen.push(settings, request.timeout_ms);
      return { text };
    },
  });

  it("is asked with its own settings and time", async () => {
    const seen: unknown[] = [];
    const models = { ollama: model(seen, GUARDRAILS), openai: model(seen, GUARDRAILS) };
    expect(await ask(step(target), { provider: "ollama_agent", providers: { ollama_agent }, models })).toBe(GUARDRAILS);
    const env = { SAMPLE_KEY: "k" };
    expect(await ask(step(target), { provider: "openai_agent", providers: { openai_agent }, models, env })).toBe(
      GUARDRAILS,
    );
    expect(seen).toEqual([ollama_agent, 7000, { ...openai_agent, api_key: "k" }, 7000]);
  });

  it.each<[string, Script, string]>([
    [
      "a model that nobody configured",
      { provider: "ollama_agent", providers: { ollama_agent: null } },
      "workflow.providers.ollama_agent is not configured",
    ],
    [
      "another model that nobody configured",
      { provider: "openai_agent", providers: { openai_agent: null } },
      "workflow.providers.openai_agent is not configured",
    ],
    [
      "one configured for the other",
      { provider: "ollama_agent", providers: { ollama_agent: null, openai_agent } },
      "workflow.providers.ollama_agent is not configured",
    ],
    [
      "a key that is not there",
      { provider: "openai_agent", providers: { openai_agent } },
      "the variable SAMPLE_KEY does not contain a key",
    ],
    [
      "a key that is empty",
      { provider: "openai_agent", providers: { openai_agent }, env: { SAMPLE_KEY: "" } },
      "the variable SAMPLE_KEY does not contain a key",
    ],
  ])("is refused: %s", async (_, script, message) => {
    expect(await ask(step(target), script)).toEqual(["PROVIDER_NOT_CONFIGURED", message]);
  });

  it("that fails says why in the log, and the run waits", async () => {
    const failing = () => ({
      complete: () => Promise.reject(new VerbatimError("PROVIDER_FAILED", { message: "it is busy" })),
    });
    expect(
      await ask(step(target), { provider: "ollama_agent", providers: { ollama_agent }, models: { ollama: failing } }),
    ).toEqual(["PROVIDER_FAILED", "it is busy"]);
    expect(Buffer.from(run.folder.read(String(lastEvent()["log"]).replace("stdout", "stderr"))!).toString()).toBe(
      "PROVIDER_FAILED: it is busy\n",
    );
  });
});

describe("a fence around everything", () => {
  it.each([
    ["```\na\n```", "a\n"],
    ["~~~md\na\nb\n~~~ \n", "a\nb\n"],
    ["\n\n````\n```\nx\n```\n````\n\n", "```\nx\n```\n"],
    ["```\n```", "\n"],
    ["a", null],
    ["```\na", null],
    ["```", null],
    ["", null],
    ["x\n```\na\n```", null],
    ["```\na\n```\nx", null],
    ["```\na\n```\n```\nb\n```", null],
    ["```\na\n~~~", null],
    ["``\na\n``", null],
    ["```a`b\nx\n```", null],
  ])("%j", (text, inside) => {
    expect(unfence(text)).toBe(inside);
  });
});
