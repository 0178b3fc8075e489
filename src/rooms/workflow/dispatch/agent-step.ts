import { decodeUtf8 } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import type { ChatModel } from "../../../core/models.ts";
import type { ProviderName } from "../artifacts/dispatch.ts";
import { PLAN_FILE } from "../artifacts/plan.ts";
import { isBlank } from "../artifacts/text.ts";
import { judgeInRun, MOST_ARTIFACT_BYTES, storeArtifact } from "../run/gate/receive.ts";
import { writeEvidencePack } from "../run/record/evidence.ts";
import type { Run } from "../run/run.ts";
import type { Session } from "../run/session.ts";
import { childEnvironment } from "../run/verify/child-environment.ts";
import { expandTemplate, type TemplateValues } from "./argv-template.ts";
import { type NextStep, PATCH_FILE } from "./next-step.ts";
import { countPrompts } from "./outbox.ts";
import { composePrompt } from "./prompts.ts";

const SCRATCH = "scratch";
const decoder = new TextDecoder();

/** Lets an agent write the target of a step. Any failure is thrown with its code; what it said is in the logs. */
export async function dispatchRole(
  session: Session,
  step: NextStep,
  provider: ProviderName,
  message: string,
): Promise<void> {
  const { run } = session;
  const role = step.owner!;
  const target = step.target!;
  const evidence = writeEvidencePack(run);
  const prompt = composePrompt(run, step, provider, message, false) + evidence;
  const number = nextLogNumber(run);
  const log = { stdout: `logs/${number}_${role}.stdout.log`, stderr: `logs/${number}_${role}.stderr.log` };
  await session.event(role, "PROVIDER_STARTED", target, { provider });
  try {
    const output = await askProvider(session, step, provider, prompt, log);
    const { bytes, unfenced } = toArtifact(target, output, log.stdout);
    const { errors } = judgeInRun(run, target, bytes);
    if (errors.length > 0) {
      const first = errors[0]!;
      throw new VerbatimError("PROVIDER_OUTPUT_INVALID", {
        message: `${first.code}: ${first.message}`,
        where: `${run.folder.dir}/${log.stdout}`,
        details: { errors },
      });
    }
    await session.event(role, "PROVIDER_COMPLETED", target, {
      provider,
      log: log.stdout,
      ...(unfenced ? { unfenced } : {}),
    });
    await storeArtifact(session, target, bytes, role, { provider });
  } catch (thrown) {
    if (isVerbatimError(thrown) && thrown.code !== "INTERRUPTED") {
      await session.event(role, "PROVIDER_FAILED", target, { provider, code: thrown.code, log: log.stdout });
    }
    throw thrown;
  } finally {
    run.folder.remove(SCRATCH);
  }
}

function nextLogNumber(run: Run): string {
  const names = run.folder
    .list("logs")
    .map((path) => path.slice("logs/".length).replace(/\.std(?:out|err)\.log$/, ".md"));
  return countPrompts(names).next;
}

interface LogFiles {
  readonly stdout: string;
  readonly stderr: string;
}

async function askProvider(
  session: Session,
  step: NextStep,
  provider: ProviderName,
  prompt: string,
  log: LogFiles,
): Promise<Uint8Array> {
  const { run } = session;
  if (provider === "api_agent") return await runCommandAgent(session, step, prompt, log);
  const { model, timeout_s } = findModel(run, provider);
  const request = {
    content: prompt,
    timeout_ms: timeout_s * 1000,
    signal: session.signal,
    most_bytes: MOST_ARTIFACT_BYTES,
  };
  try {
    const { text } = await model.complete(request);
    run.folder.write(log.stdout, text);
    run.folder.write(log.stderr, "");
    return new TextEncoder().encode(text);
  } catch (thrown) {
    session.throwIfInterrupted();
    if (isVerbatimError(thrown)) run.folder.write(log.stderr, `${thrown.code}: ${thrown.message}\n`);
    throw thrown;
  }
}

function findModel(run: Run, provider: ProviderName): { readonly model: ChatModel; readonly timeout_s: number } {
  const { config, models, env } = run.ports;
  const { ollama_agent, openai_agent } = config.providers;
  if (provider === "ollama_agent" && ollama_agent !== null) {
    return { model: models.ollama(ollama_agent), timeout_s: ollama_agent.timeout_s };
  }
  if (provider !== "openai_agent" || openai_agent === null) {
    throw new VerbatimError("PROVIDER_NOT_CONFIGURED", { message: `workflow.providers.${provider} is not configured` });
  }
  const api_key = env[openai_agent.api_key_env];
  if (api_key === undefined || api_key === "") {
    throw new VerbatimError("PROVIDER_NOT_CONFIGURED", {
      message: `the variable ${openai_agent.api_key_env} does not contain a key`,
    });
  }
  return { model: models.openai({ ...openai_agent, api_key }), timeout_s: openai_agent.timeout_s };
}

async function runCommandAgent(session: Session, step: NextStep, prompt: string, log: LogFiles): Promise<Uint8Array> {
  const { run } = session;
  const { agents, config, env } = run.ports;
  const settings = config.providers.api_agent;
  const scratch = run.folder.makeFolder(SCRATCH);
  const promptFile = "outbox/AGENT_PROMPT.md";
  run.folder.write(promptFile, prompt);
  const argv = expandTemplate(findTemplate(run, step.owner!), templateValues(run, step, promptFile));
  const result = await agents.run(
    {
      argv,
      cwd: scratch,
      stdin: new TextEncoder().encode(prompt),
      timeout_s: settings.timeout_s,
      env: childEnvironment(env, settings.env_allow, { VERBATIM_RUN: run.id }),
      most_bytes: MOST_ARTIFACT_BYTES,
    },
    session.signal,
  );
  run.folder.write(log.stdout, result.stdout);
  run.folder.write(log.stderr, result.stderr);
  session.throwIfInterrupted();
  const where = `${run.folder.dir}/${log.stderr}`;
  if (result.ending === "timeout") {
    throw new VerbatimError("PROVIDER_TIMEOUT", {
      message: `${argv[0]} took longer than ${settings.timeout_s} s`,
      where,
    });
  }
  if (result.ending === "too_much_output") {
    throw new VerbatimError("PROVIDER_FAILED", {
      message: `${argv[0]} wrote more than ${MOST_ARTIFACT_BYTES} bytes`,
      where,
    });
  }
  if (result.exit_code !== 0) {
    throw new VerbatimError("PROVIDER_FAILED", {
      message: `${argv[0]} ended with exit code ${result.exit_code}`,
      where,
      details: { exit_code: result.exit_code },
    });
  }
  return result.stdout;
}

/** Environment first, then the configuration; the special command before the general one. */
function findTemplate(run: Run, role: string): string | readonly string[] {
  const { env, config } = run.ports;
  const patch = role === "patchmaker" || role === "fixer";
  const settings = config.providers.api_agent;
  const given = [
    env[patch ? "SDDAI_PATCH_CMD" : "SDDAI_PLAN_CMD"],
    env["SDDAI_AGENT_CMD"],
    patch ? settings.patch_cmd : settings.plan_cmd,
    settings.agent_cmd,
  ].find((template) => template !== undefined && template !== null && template !== "");
  if (given == null) {
    throw new VerbatimError("PROVIDER_NOT_CONFIGURED", { message: `no command is configured for ${role}` });
  }
  return given;
}

function templateValues(run: Run, step: NextStep, promptFile: string): TemplateValues {
  const at = (path: string) => `${run.folder.dir}/${path}`;
  return {
    PROMPT_PATH: at(promptFile),
    TARGET_PATH: at(step.target!),
    PLAN_PATH: at(PLAN_FILE),
    PATCH_PATH: at(PATCH_FILE),
    CONTEXT_PATH: at("outbox/CONTEXT.md"),
    CONSTRAINTS_PATH: at("outbox/CONSTRAINTS.md"),
    FIX_BRIEF_PATH: at("outbox/FIX_BRIEF.md"),
    EXTERNALS_PATH: at("outbox/EXTERNALS.md"),
    GOAL: run.state.goal,
    REASON: step.code,
    ROLE: step.owner!,
    ACTION: step.action!,
    RUN_DIR: run.folder.dir,
    REPO_ROOT: run.ports.repoRoot,
    ROUND: String(run.state.candidates.length + 1),
  };
}

/** A patch is taken as it is; for other targets one fence around the whole output is removed, nothing else. */
function toArtifact(
  target: string,
  output: Uint8Array,
  log: string,
): { readonly bytes: Uint8Array; readonly unfenced: boolean } {
  if (target === PATCH_FILE) {
    if (!decoder.decode(output.subarray(0, 11)).startsWith("diff --git ")) {
      throw new VerbatimError("PROVIDER_OUTPUT_NOT_PATCH", { where: log });
    }
    return { bytes: output, unfenced: false };
  }
  const inside = unfence(decodeUtf8(output) ?? "");
  return inside === null
    ? { bytes: output, unfenced: false }
    : { bytes: new TextEncoder().encode(inside), unfenced: true };
}

/** The inside of a text that is one fenced block and nothing else, or null. */
export function unfence(text: string): string | null {
  const lines = text.split("\n");
  while (lines.length > 0 && isBlank(lines[0]!)) lines.shift();
  while (lines.length > 0 && isBlank(lines.at(-1)!)) lines.pop();
  const open = /^(`{3,}|~{3,})[^`]*$/.exec(lines[0] ?? "");
  if (open === null || lines.length < 2) return null;
  const closes = (line: string) => line.startsWith(open[1]!) && /^[`~]+[ \t\r]*$/.test(line);
  const end = lines.findIndex((line, i) => i > 0 && closes(line));
  return end === lines.length - 1 ? `${lines.slice(1, end).join("\n")}\n` : null;
}
