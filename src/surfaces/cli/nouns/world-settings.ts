import type { Output } from "../../../app/operations.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Verb } from "../verb.ts";

type Settings = Output<"world.settings">["settings"];

/** One line a setting, with the name under which it is set. */
function printSettings(value: unknown, io: Io, name = ""): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    for (const [key, below] of Object.entries(value)) printSettings(below, io, name === "" ? key : `${name}.${key}`);
  } else {
    io.line(`${name}=${showWritten(JSON.stringify(value))}`);
  }
}

/** `KEY=JSON` as a merge patch; a value that is not JSON is refused, so that no word is taken for another. */
function toPatch(pairs: readonly string[]): Record<string, unknown> {
  const patch = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1)
      throw new VerbatimError("USAGE", { message: `write a setting as KEY=JSON, not ${JSON.stringify(pair)}` });
    put(patch, pair.slice(0, at), parseValue(pair.slice(0, at), pair.slice(at + 1)));
  }
  return patch;
}

function parseValue(key: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const fix = `Write a text in double quotes: ${key}='"text"'`;
    throw new VerbatimError("USAGE", {
      message: `the value of ${key} is not JSON`,
      fix: { cli: fix, others: "Send JSON." },
    });
  }
}

function put(patch: Record<string, unknown>, key: string, value: unknown): void {
  const names = key.split(".");
  const last = names.pop()!;
  let at = patch;
  for (const name of names) {
    const below = Object.hasOwn(at, name) ? at[name] : undefined;
    const next = typeof below === "object" && below !== null ? (below as Record<string, unknown>) : {};
    Object.defineProperty(at, name, { value: next, enumerable: true, configurable: true, writable: true });
    at = next;
  }
  Object.defineProperty(at, last, { value, enumerable: true, configurable: true, writable: true });
}

function renderSettings({ settings }: { readonly settings: Settings }, io: Io): void {
  printSettings(settings, io);
}

function renderWriter({ writer }: Output<"world.writer">, io: Io): void {
  printSettings(writer, io);
}

/** The words after `set` and `reset` come as one list in the field of the patch. */
const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : []);

export const SETTINGS_VERBS: readonly Verb[] = [
  defineVerb("world.settings", {
    path: ["settings", "show"],
    isDefault: true,
    examples: ["verbatim world settings", "verbatim world settings show --json"],
    render: renderSettings,
  }),
  defineVerb("world.settings-set", {
    path: ["settings", "set"],
    args: [{ field: "settings", label: "KEY=JSON", variadic: true }],
    flags: { key: { hidden: true } },
    examples: ["verbatim world settings set context.window_tokens=8192 pocket.clock_hidden=true"],
    prepare: async (given) => ({ ...given, settings: toPatch(listed(given.settings)) }),
    render: renderSettings,
  }),
  defineVerb("world.settings-set", {
    path: ["settings", "reset"],
    summary: "Gives settings of a world their defaults again.",
    args: [{ field: "settings", label: "KEY", variadic: true }],
    flags: { key: { hidden: true } },
    examples: ["verbatim world settings reset context.window_tokens tools"],
    prepare: async (given) => ({ ...given, settings: toPatch(listed(given.settings).map((name) => `${name}=null`)) }),
    render: renderSettings,
  }),
  defineVerb("world.writer", {
    path: ["writer", "show"],
    isDefault: true,
    examples: ["verbatim world writer"],
    render: renderWriter,
  }),
  defineVerb("world.writer-set", {
    path: ["writer", "set"],
    flags: { key: { hidden: true } },
    examples: [
      "verbatim world writer set --kind ollama --model llama3.1",
      "verbatim world writer set --kind openai-compatible --model mira-7b --base-url https://models.example/v1 --api-key-env MODELS_KEY",
    ],
    render: renderWriter,
  }),
  defineVerb("world.writer-test", {
    path: ["writer", "test"],
    examples: ["verbatim world writer test"],
    render({ steps, proposes }, io) {
      for (const { step, ok, words } of steps)
        io.line(`${ok ? io.paint.good("ok") : io.paint.bad("no")} ${step.padEnd(6)} ${showWritten(words)}`);
      if (proposes !== null) io.line(`it answers as ${proposes}: verbatim world writer set --reply ${proposes}`);
    },
    exit: ({ ok }) => (ok ? 0 : 1),
  }),
  defineVerb("world.writer-models", {
    path: ["writer", "models"],
    examples: ["verbatim world writer models --kind ollama"],
    render({ models, words }, io) {
      if (words !== null) io.note(showWritten(words));
      for (const { name, window_tokens } of models) {
        io.line(`${showWritten(name)}${window_tokens === null ? "" : `  ${window_tokens} tokens`}`);
      }
    },
    exit: ({ code }) => (code === null ? 0 : 4),
  }),
];
