import { nodeCrypto } from "../../src/adapters/crypto/node-crypto.ts";
import { type Ask, type BeatResult, playGated, playOpenly } from "./arms.ts";
import { addUp, type Measured, measure, type Share, wilson } from "./measure.ts";
import { toStory } from "./story.ts";

export const LIMITS =
  "Counts made-up words in what models are sent and in what they say. Paraphrase of facts that can be guessed is not measured.";

export const ARMS = ["open", "prompt", "gate"] as const;
type Arm = (typeof ARMS)[number];

export interface LeakReport {
  readonly limits: string;
  readonly format: "verbatim.leak-bench";
  readonly version: 1;
  readonly seed: number;
  readonly writer: string;
  readonly model: string | null;
  readonly arms: Readonly<Record<Arm, Measured & { readonly intervals: Readonly<Record<string, readonly number[]>> }>>;
  readonly stories: readonly (Measured & {
    readonly story: number;
    readonly arm: Arm;
    /** Of everything that models were sent, one for each beat. */
    readonly prompts_sha256: readonly string[];
  })[];
}

/** Plays the same stories in three ways and counts what got out. */
export async function runLeakBench(
  how: { readonly seed: number; readonly stories: number; readonly writer: string; readonly model: string | null },
  ask: Ask,
): Promise<LeakReport> {
  const rows: LeakReport["stories"][number][] = [];
  for (let number = 1; number <= how.stories; number++) {
    const story = toStory(how.seed, number);
    const played: Record<Arm, BeatResult[]> = {
      open: await playOpenly(story, ask, false),
      prompt: await playOpenly(story, ask, true),
      gate: await playGated(story, ask, how.model ?? "parrot"),
    };
    for (const arm of ARMS) {
      const prompts_sha256 = played[arm].map(({ calls }) =>
        nodeCrypto.sha256(calls.map(({ prompt }) => prompt).join("\n")),
      );
      rows.push({ story: number, arm, ...measure(story, played[arm]), prompts_sha256 });
    }
  }
  const sumOf = (arm: Arm) => {
    const all = addUp(rows.filter((row) => row.arm === arm));
    return {
      ...all,
      intervals: { exposure: wilson(all.exposure), leak: wilson(all.leak), recall: wilson(all.recall) },
    };
  };
  return {
    limits: LIMITS,
    format: "verbatim.leak-bench",
    version: 1,
    seed: how.seed,
    writer: how.writer,
    model: how.model,
    arms: { open: sumOf("open"), prompt: sumOf("prompt"), gate: sumOf("gate") },
    stories: rows,
  };
}

/** A table that can be quoted. */
export function toTable({ limits, seed, writer, model, arms }: LeakReport): string {
  const cell = (share: Share, [low, high]: readonly number[]) => {
    const value = share.of === 0 ? "-" : (share.hits / share.of).toFixed(3);
    const interval = writer === "scripted" ? "" : ` [${(low! / 1000).toFixed(3)}, ${(high! / 1000).toFixed(3)}]`;
    return `${value} (${share.hits}/${share.of})${interval}`;
  };
  const lines = ARMS.map((arm) => {
    const { exposure, leak, recall, silence, invalid, intervals } = arms[arm];
    return `| ${arm} | ${cell(exposure, intervals["exposure"]!)} | ${cell(leak, intervals["leak"]!)} | ${cell(recall, intervals["recall"]!)} | ${silence} | ${invalid} |`;
  });
  return [
    limits,
    `seed ${seed}, ${writer === "scripted" ? "the scripted adversary that says every word it is sent" : `${writer} ${model}`}`,
    "",
    "| arm | exposure | leak | recall | silence | invalid |",
    "|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
