// Agents in place of people: real processes and a local server that speaks the real protocols.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DEFAULT_DISPATCH } from "../../src/rooms/workflow/artifacts/dispatch.ts";
import { ModelServer, ollamaSays, openAiSays, refuses } from "../support/chat-server.ts";
import {
  BAD_PATCH,
  COMMAND,
  GOOD_PATCH,
  GUARDRAILS,
  makeDraft,
  REASONS,
  REQUEST,
  RESULTS,
  SampleRepository,
} from "../support/sample-repository.ts";

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

const LITE = { gates: { lite: [{ argv: COMMAND }] } };

function makeRepository(workflow: Record<string, unknown>): SampleRepository {
  const repository = new SampleRepository({ verify: LITE, ...workflow });
  closing.push(() => repository.remove());
  return repository;
}

/** An agent that answers every action from a folder of answers and notes what it was given. */
const AGENT = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";
const [folder, role, action, goal] = process.argv.slice(2);
const prompt = readFileSync(0, "utf8");
appendFileSync(folder + "/calls.jsonl", JSON.stringify({ role, action, goal, cwd: process.cwd(), env: Object.keys(process.env), prompt }) + "\\n");
if (existsSync(folder + "/" + action + ".exit")) process.exit(Number(readFileSync(folder + "/" + action + ".exit", "utf8")));
const file = folder + "/" + action;
if (!existsSync(file)) { console.error("no answer for " + action); process.exit(7); }
process.stdout.write(readFileSync(file));
`;

function answer(repository: SampleRepository, answers: Readonly<Record<string, string>>): string {
  const folder = join(repository.folder, "answers");
  repository.file("agent.mjs", AGENT);
  repository.file("answers/.keep", "");
  for (const [action, text] of Object.entries(answers)) repository.file(`answers/${action}`, text);
  return folder;
}

const ANSWERS = {
  guardrails: `\`\`\`\n${GUARDRAILS}\`\`\`\n`,
  file_request: REQUEST,
  plan_draft: makeDraft(),
  reasons: REASONS,
  expected_results: RESULTS,
  plan_signed: makeDraft({ Status: "SIGNED" }),
};

describe("api_agent", () => {
  it("plans and patches a whole run, with the cost review by a person, and no shell anywhere", async () => {
    const repository = makeRepository({ dispatch: { mode: "api_agent" } });
    const folder = answer(repository, { ...ANSWERS, make_patch: BAD_PATCH, fix_patch: GOOD_PATCH });
    repository.env["SDDAI_AGENT_CMD"] = JSON.stringify([
      process.execPath,
      join(repository.folder, "agent.mjs"),
      folder,
      "{ROLE}",
      "{ACTION}",
      "{GOAL}",
    ]);
    const goal = 'greet"; touch pwned; $(touch pwned) `touch pwned`';
    const created = await repository.call("new", { goal, run_id: "a" });
    const dir = String(created["run_dir"]);
    expect(await repository.call("advance", { run: "a" })).toMatchObject({ owner: "cost_controller" });
    const draft = (await repository.call("show", { run: "a", artifact: "RUN.json" })) as { artifact: { text: string } };
    const hash = JSON.parse(draft.artifact.text).artifacts["artifacts/PLAN_draft.md"];
    await repository.submit("review_cost.md", `Draft-SHA256: ${hash}\nVerdict: APPROVE\n`, "a");
    expect(await repository.call("advance", { run: "a" })).toMatchObject({ status: "pass" });

    const calls = readFileSync(join(folder, "calls.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(calls.map(({ action }: { action: string }) => action)).toEqual([
      "guardrails",
      "file_request",
      "plan_draft",
      "reasons",
      "expected_results",
      "plan_signed",
      "make_patch",
      "fix_patch",
    ]);
    expect(calls[0].goal).toBe(goal);
    expect(calls.at(-1).prompt).toContain("Label: VERIFY_FAILED");
    expect(calls.at(-1).prompt).toContain('export const greet = (name) => "Hello " + name;');
    expect(calls[0].cwd).toBe(join(dir, "scratch"));
    expect(calls[0].env).not.toContain("SDDAI_AGENT_CMD");
    expect(existsSync(join(repository.root, "pwned"))).toBe(false);
    expect(existsSync(join(dir, "scratch"))).toBe(false);
  });

  it.each([
    ["exits with an error", { "make_patch.exit": "3" }, "PROVIDER_FAILED"],
    ["prints the patch in a fence", { make_patch: `\`\`\`diff\n${GOOD_PATCH}\`\`\`\n` }, "PROVIDER_OUTPUT_NOT_PATCH"],
    ["prints prose first", { make_patch: `Here you are:\n${GOOD_PATCH}` }, "PROVIDER_OUTPUT_NOT_PATCH"],
  ])("leaves a log and a prompt for a person when the agent %s", async (_, answers, code) => {
    const repository = makeRepository({
      dispatch: { mode: "manual_outbox", role_providers: { patchmaker: "api_agent" } },
    });
    const folder = answer(repository, answers as Record<string, string>);
    repository.env["SDDAI_PATCH_CMD"] =
      `${process.execPath} ${join(repository.folder, "agent.mjs")} ${folder} {ROLE} {ACTION}`;
    const dir = await repository.plan("p");
    const result = await repository.call("advance", { run: "p" });
    expect(result).toMatchObject({ state: "blocked", owner: "patchmaker", code: "ARTIFACT_MISSING" });
    expect(String(result["message"])).toContain(code);
    const events = readFileSync(join(dir, "events.jsonl"), "utf8");
    expect(events).toContain("PROVIDER_FAILED");
    expect(readdirSync(join(dir, "outbox")).some((name) => name.endsWith("_patchmaker_make_patch.md"))).toBe(true);
    expect(readdirSync(join(dir, "logs")).some((name) => name.endsWith("_patchmaker.stdout.log"))).toBe(true);
    expect(existsSync(join(dir, "artifacts/diff.patch"))).toBe(false);
  });

  it("is not configured without a command, and invalid artifacts never replace valid ones", async () => {
    const repository = makeRepository({ dispatch: { mode: "api_agent" } });
    const created = await repository.call("new", { goal: "g", run_id: "n" });
    expect(String((await repository.call("advance", { run: "n" }))["message"])).toContain("PROVIDER_NOT_CONFIGURED");
    const folder = answer(repository, { guardrails: "find_mode: anything goes\n" });
    repository.env["SDDAI_PLAN_CMD"] =
      `${process.execPath} ${join(repository.folder, "agent.mjs")} ${folder} {ROLE} {ACTION}`;
    expect(String((await repository.call("advance", { run: "n" }))["message"])).toContain("PROVIDER_OUTPUT_INVALID");
    expect(existsSync(join(String(created["run_dir"]), "artifacts/guardrails.md"))).toBe(false);
  });
});

describe("models over HTTP", () => {
  it("write artifacts through Ollama and through the OpenAI protocol, and the key stays out of everything kept", async () => {
    const server = await ModelServer.start();
    closing.push(() => server.close());
    const repository = makeRepository({
      dispatch: { mode: "ollama_agent", role_providers: { patchmaker: "openai_agent", fixer: "openai_agent" } },
      providers: {
        ollama_agent: { base_url: server.url, model: "tiny" },
        openai_agent: { base_url: `${server.url}/v1`, model: "large", api_key_env: "MY_KEY" },
      },
    });
    repository.env["MY_KEY"] = "sk-hush-hush";
    for (const action of ["guardrails", "file_request", "plan_draft", "reasons", "expected_results"] as const)
      server.next(ollamaSays(ANSWERS[action]));
    const created = await repository.call("new", { goal: "greet", run_id: "h" });
    expect(await repository.call("advance", { run: "h" })).toMatchObject({ owner: "cost_controller" });
    const shown = (await repository.call("show", { run: "h", artifact: "PLAN_draft.md" })) as {
      artifact: { sha256: string };
    };
    await repository.submit("review_cost.md", `Draft-SHA256: ${shown.artifact.sha256}\nVerdict: APPROVE\n`, "h");
    await repository.call("submit", { artifact: "PLAN.md", from_draft: true, run: "h" });
    server.next(openAiSays(GOOD_PATCH));
    expect(await repository.call("advance", { run: "h" })).toMatchObject({ status: "pass" });
    expect(server.seen.at(-1)?.authorization).toBe("Bearer sk-hush-hush");
    const dir = String(created["run_dir"]);
    const kept = readdirSync(dir, { recursive: true, encoding: "utf8", withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    for (const entry of kept)
      expect(readFileSync(join(entry.parentPath, entry.name)).includes("sk-hush-hush")).toBe(false);
  });

  it("write a prompt for a person when the model is down", async () => {
    const server = await ModelServer.start();
    closing.push(() => server.close());
    server.next(refuses(503, "loading"));
    const repository = makeRepository({
      dispatch: { mode: "ollama_agent" },
      providers: { ollama_agent: { base_url: server.url, model: "tiny" } },
    });
    const created = await repository.call("new", { goal: "g", run_id: "down" });
    expect(String((await repository.call("advance", { run: "down" }))["message"])).toContain("HTTP 503");
    expect(readdirSync(join(String(created["run_dir"]), "outbox"))).toContain("001_chair_guardrails.md");
  });
});

describe("the outbox", () => {
  it("reuses an equal prompt, counts prompts only, and blocks for the operator at its limit", async () => {
    const repository = makeRepository({ dispatch: { mode: "manual_outbox", budgets: { max_outbox_prompts: 2 } } });
    const created = await repository.call("new", { goal: "g", run_id: "o" });
    const outbox = join(String(created["run_dir"]), "outbox");
    await repository.call("advance", { run: "o" });
    await repository.call("advance", { run: "o" });
    expect(readdirSync(outbox).filter((name) => /^[0-9]/.test(name))).toEqual(["001_chair_guardrails.md"]);
    await repository.submit("guardrails.md", GUARDRAILS, "o");
    await repository.call("advance", { run: "o" });
    await repository.submit("file_request.json", REQUEST, "o");
    const exhausted = { code: "OUTBOX_BUDGET_EXCEEDED", owner: "operator", target: "artifacts/PLAN_draft.md" };
    expect(await repository.call("advance", { run: "o" })).toMatchObject({
      ...exhausted,
      steps: [{ action: "context_pack" }, { result: "OUTBOX_BUDGET_EXCEEDED" }],
    });
    expect(await repository.call("status", { run: "o" })).toMatchObject(exhausted);
    expect(readdirSync(outbox).filter((name) => /^[0-9]/.test(name))).toHaveLength(2);
    const more = { ...DEFAULT_DISPATCH, budgets: { max_outbox_prompts: 3 } };
    await repository.submit("dispatch_config.json", JSON.stringify(more), "o");
    expect(await repository.call("status", { run: "o" })).toMatchObject({ code: "ARTIFACT_MISSING", owner: "chair" });
  });

  it("takes a pack from a manual librarian only when it is the local librarian's, byte for byte", async () => {
    const repository = makeRepository({
      dispatch: { mode: "manual_outbox", role_providers: { librarian: "manual_outbox" } },
    });
    await repository.call("new", { goal: "g", run_id: "m" });
    await repository.submit("guardrails.md", GUARDRAILS, "m");
    await repository.call("advance", { run: "m" });
    await repository.submit("file_request.json", REQUEST, "m");
    expect(await repository.call("advance", { run: "m" })).toMatchObject({ owner: "librarian", state: "blocked" });
    const { text } = (await repository.call("pack", { request: repository.file("request", REQUEST) })) as {
      text: string;
    };
    await expect(
      repository.submit("context_pack.json", text.replace("Patch only.", "Patch at will."), "m"),
    ).rejects.toMatchObject({ code: "CONTEXT_PACK_NOT_VERBATIM" });
    expect(await repository.submit("context_pack.json", text, "m")).toMatchObject({ ok: true, action: "plan_draft" });
  });
});
