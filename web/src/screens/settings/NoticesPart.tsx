import { type ReactNode, useState, useSyncExternalStore } from "react";
import { onAppearance, readAppearance, setAppearance } from "../../app/appearance.ts";
import { askPermission, readPermission } from "../../app/notices.ts";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

/** Whether the browser says when a run needs somebody. */
export function NoticesPart(): ReactNode {
  const { notices } = useSyncExternalStore(onAppearance, readAppearance);
  const [permission, setPermission] = useState(readPermission);
  const choose = async (next: "off" | "on") => {
    const given = next === "off" ? permission : await askPermission();
    setPermission(given);
    setAppearance({ notices: next === "on" && given === "granted" ? "on" : "off" });
  };
  const problem =
    permission === null ? words.settings.noticesAbsent : permission === "denied" ? words.settings.noticesDenied : null;
  return (
    <div className={styles["fields"]}>
      <fieldset className={styles["field"]}>
        <legend>{words.settings.notices}</legend>
        <div className={styles["choices"]}>
          {(["off", "on"] as const).map((name) => (
            <label key={name} className={styles["choice"]}>
              <input
                type="radio"
                name="notices"
                checked={notices === name}
                disabled={name === "on" && permission === null}
                onChange={() => void choose(name)}
              />
              {words.settings.noticesWords[name]}
            </label>
          ))}
        </div>
      </fieldset>
      <p className={styles["plain"]}>{words.settings.noticesWhy}</p>
      {problem === null ? null : <p role="status">{problem}</p>}
    </div>
  );
}
