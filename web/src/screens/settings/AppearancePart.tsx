import { type ReactNode, useSyncExternalStore } from "react";
import { type Appearance, onAppearance, readAppearance, SIZES, setAppearance } from "../../app/appearance.ts";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

/** How the Studio looks here. Every choice takes effect at once and stays in this browser. */
export function AppearancePart(): ReactNode {
  const now = useSyncExternalStore(onAppearance, readAppearance);
  return (
    <div className={styles["fields"]}>
      <Choice name="theme" legend={words.settings.theme} now={now.theme} among={words.settings.themes} />
      <Choice
        name="size"
        legend={words.settings.size}
        now={now.size}
        among={Object.fromEntries(SIZES.map((size) => [size, `${size} %`]))}
      />
      <Choice name="density" legend={words.settings.density} now={now.density} among={words.settings.densities} />
      <Choice name="motion" legend={words.settings.motion} now={now.motion} among={words.settings.motions} />
      <label className={styles["choice"]}>
        <input
          type="checkbox"
          checked={now.letters}
          onChange={(event) => setAppearance({ letters: event.target.checked })}
        />
        {words.settings.letters}
      </label>
    </div>
  );
}

function Choice(props: {
  readonly name: keyof Appearance;
  readonly legend: string;
  readonly now: string | number;
  readonly among: Readonly<Record<string, string>>;
}): ReactNode {
  const { name, legend, now, among } = props;
  const choose = (value: string) => setAppearance({ [name]: typeof now === "number" ? Number(value) : value });
  return (
    <fieldset className={styles["field"]}>
      <legend>{legend}</legend>
      <div className={styles["choices"]}>
        {Object.entries(among).map(([value, word]) => (
          <label key={value} className={styles["choice"]}>
            <input type="radio" name={name} checked={String(now) === value} onChange={() => choose(value)} />
            {word}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
