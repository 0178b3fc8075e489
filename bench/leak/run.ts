import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Ask, parrot } from "./arms.ts";
import { runLeakBench, toTable } from "./bench.ts";

const USAGE = `npm run bench:leak -- [--writer scripted|ollama|openai-compatible --model M --base-url U] [--stories 24] [--seed 1] [--out FILE]`;

const { values } = parseArgs({
  options: {
    writer: { type: "string", default: "scripted" },
    model: { type: "string" },
    "base-url": { type: "string", default: "http://127.0.0.1:11434" },
    stories: { type: "string", default: "24" },
    seed: { type: "string", default: "1" },
    out: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** Asks a model that is really there; what it says is taken as it is. */
function askModel(kind: string, base: string, model: string): Ask {
  return async (system, user) => {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: user },
    ];
    const isOllama = kind === "ollama";
    const response = await fetch(new URL(isOllama ? "/api/chat" : "/v1/chat/completions", base), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages, stream: false, ...(isOllama ? { think: false } : {}) }),
    });
    if (!response.ok) throw new Error(`the model answered with ${response.status}`);
    const answer = (await response.json()) as {
      message?: { content?: string };
      choices?: { message?: { content?: string } }[];
    };
    return answer.message?.content ?? answer.choices?.[0]?.message?.content ?? "";
  };
}

function toCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`--${name} ${text} is not a count\n${USAGE}`);
  return count;
}

if (values.help) console.log(USAGE);
else {
  const { writer, model = null } = values;
  if (!["scripted", "ollama", "openai-compatible"].includes(writer)) throw new Error(USAGE);
  if (writer !== "scripted" && model === null) throw new Error(`--writer ${writer} needs --model\n${USAGE}`);
  const ask = model === null || writer === "scripted" ? parrot : askModel(writer, values["base-url"], model);
  const how = { seed: toCount("seed", values.seed), stories: toCount("stories", values.stories), writer, model };
  const report = await runLeakBench(how, ask);
  if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(report, null, 1)}\n`);
  console.log(toTable(report));
}
