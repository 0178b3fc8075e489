import type { BeatResult } from "./arms.ts";
import type { LeakStory } from "./story.ts";

/** How often something happened of how often it could have. */
export interface Share {
  readonly hits: number;
  readonly of: number;
}

export interface Measured {
  /** Calls whose messages hold a word that somebody who is there may not know. */
  readonly exposure: Share;
  /** Beats in which a line with a word is seen by somebody who may not know it. */
  readonly leak: Share;
  /** Questions to those who know that were answered with the word. */
  readonly recall: Share;
  readonly silence: number;
  readonly invalid: number;
}

/** Whether a text says a word: as it is, backwards, or letter by letter with up to three others between them. */
export function says(text: string, word: string): boolean {
  const folded = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const spelled = [...word].join("[\\s\\S]{0,3}?");
  return folded.includes([...word].reverse().join("")) || new RegExp(spelled).test(folded);
}

/** What the beats of a story gave away and what they remembered. */
export function measure({ secrets, lore, note }: LeakStory, beats: readonly BeatResult[]): Measured {
  const words = [
    ...secrets.map(({ word, told }) => ({ word, known: ["GEORGE", ...told] })),
    ...[lore, note].map(({ word, told }) => ({ word, known: [...told] })),
  ];
  const isHidden = (known: readonly string[], from: readonly string[]) => from.some((id) => !known.includes(id));
  const calls = beats.flatMap((beat) => beat.calls);
  const atRisk = calls.filter(({ present }) => words.some(({ known }) => isHidden(known, present)));
  const exposed = atRisk.filter(({ prompt, present }) =>
    words.some(({ word, known }) => isHidden(known, present) && says(prompt, word)),
  );
  const leaking = beats.filter(({ lines }) =>
    lines.some(({ text, seen_by }) => words.some(({ word, known }) => isHidden(known, seen_by) && says(text, word))),
  );
  const asked = beats.filter(({ asks }) => asks !== null);
  const told = asked.filter(({ asks, lines }) => lines.some(({ text }) => says(text, asks!)));
  return {
    exposure: { hits: exposed.length, of: atRisk.length },
    leak: { hits: leaking.length, of: beats.length },
    recall: { hits: told.length, of: asked.length },
    silence: beats.filter(({ lines, invalid }) => lines.length === 0 && !invalid).length,
    invalid: beats.filter(({ invalid }) => invalid).length,
  };
}

export function addUp(all: readonly Measured[]): Measured {
  const share = (name: "exposure" | "leak" | "recall"): Share => ({
    hits: all.reduce((sum, one) => sum + one[name].hits, 0),
    of: all.reduce((sum, one) => sum + one[name].of, 0),
  });
  const sum = (name: "silence" | "invalid") => all.reduce((total, one) => total + one[name], 0);
  return {
    exposure: share("exposure"),
    leak: share("leak"),
    recall: share("recall"),
    silence: sum("silence"),
    invalid: sum("invalid"),
  };
}

const Z = 1.96;

/** Wilson's interval of 95 percent, in thousandths. */
export function wilson({ hits, of }: Share): readonly [number, number] {
  if (of === 0) return [0, 1000];
  const p = hits / of;
  const middle = p + (Z * Z) / (2 * of);
  const spread = Z * Math.sqrt((p * (1 - p)) / of + (Z * Z) / (4 * of * of));
  const scale = 1 + (Z * Z) / of;
  const round = (value: number) => Math.round(Math.min(1, Math.max(0, value / scale)) * 1000);
  return [round(middle - spread), round(middle + spread)];
}
