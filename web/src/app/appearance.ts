/** How the Studio looks in this browser. Kept here only; the server is never told. */
export interface Appearance {
  readonly theme: "system" | "light" | "dark";
  readonly size: 90 | 100 | 110 | 125 | 150;
  readonly density: "comfortable" | "compact";
  readonly motion: "system" | "none";
  /** Whether single letters act. Somebody who dictates text wants them off. */
  readonly letters: boolean;
  readonly view: "unified" | "split";
  /** Whether the browser says when a run needs somebody. */
  readonly notices: "off" | "on";
}

const KEY = "verbatim-appearance";
export const SIZES = [90, 100, 110, 125, 150] as const;
const DEFAULT: Appearance = {
  theme: "system",
  size: 100,
  density: "comfortable",
  motion: "system",
  letters: true,
  view: "unified",
  notices: "off",
};

const listeners = new Set<() => void>();
let now: Appearance = read();

export function readAppearance(): Appearance {
  return now;
}

export function onAppearance(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function setAppearance(change: Partial<Appearance>): void {
  now = { ...now, ...change };
  localStorage.setItem(KEY, JSON.stringify(now));
  applyAppearance();
  for (const listener of listeners) listener();
}

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Puts the choice where the style sheet sees it. */
export function applyAppearance(): void {
  const root = document.documentElement;
  const isDark = now.theme === "dark" || (now.theme === "system" && dark.matches);
  root.dataset["theme"] = isDark ? "dark" : "light";
  root.dataset["density"] = now.density;
  root.dataset["motion"] = now.motion;
  root.style.setProperty("--scale", String(now.size / 100));
}

dark.addEventListener("change", applyAppearance);

/** Whatever else lies under this name is as good as nothing. */
function read(): Appearance {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return DEFAULT;
    const given = kept as Record<string, unknown>;
    const pick = <T>(name: keyof Appearance, allowed: readonly T[], otherwise: T): T =>
      allowed.includes(given[name] as T) ? (given[name] as T) : otherwise;
    return {
      theme: pick("theme", ["system", "light", "dark"], DEFAULT.theme),
      size: pick("size", SIZES, DEFAULT.size),
      density: pick("density", ["comfortable", "compact"], DEFAULT.density),
      motion: pick("motion", ["system", "none"], DEFAULT.motion),
      letters: pick("letters", [true, false], DEFAULT.letters),
      view: pick("view", ["unified", "split"], DEFAULT.view),
      notices: pick("notices", ["off", "on"], DEFAULT.notices),
    };
  } catch {
    return DEFAULT;
  }
}
