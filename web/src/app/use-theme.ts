import { useSyncExternalStore } from "react";
import { onAppearance } from "./appearance.ts";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The theme as it is drawn now, for what paints with colours of its own. */
export function useTheme(): string {
  return useSyncExternalStore(
    (listener) => {
      // After the page itself has taken the new theme.
      const told = () => queueMicrotask(listener);
      dark.addEventListener("change", told);
      const stop = onAppearance(told);
      return () => {
        dark.removeEventListener("change", told);
        stop();
      };
    },
    () => document.documentElement.dataset["theme"] ?? "light",
  );
}
