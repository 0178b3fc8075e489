import { type ReactNode, useState } from "react";
import { ask } from "../../api/client.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

interface MadeLink {
  readonly code: string;
  readonly expires_at: string;
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

/** A link that opens one session somewhere else. It is shown once and kept nowhere. */
export function DeviceLink(): ReactNode {
  const [made, setMade] = useState<MadeLink | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const make = async () => {
    setProblem(null);
    try {
      setMade(await ask<MadeLink>("POST", "/session/link"));
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  const link = made === null ? "" : `${location.origin}/#k=${made.code}`;
  return (
    <section className={styles["field"]} aria-label={words.settings.device}>
      <h2>{words.settings.device}</h2>
      <p className={styles["plain"]}>{words.settings.deviceWhy}</p>
      {LOOPBACK.includes(location.hostname) ? <p className={styles["plain"]}>{words.settings.loopback}</p> : null}
      <p>
        <Button isDisabled={isLost} onPress={() => void make()}>
          {words.settings.makeLink}
        </Button>
      </p>
      {problem === null ? null : <Failure thrown={problem} />}
      {made === null ? null : (
        <div className={styles["link"]}>
          <code>{link}</code>
          <CopyButton text={link} label={words.copy.hash(words.settings.link)} />
          <p className={styles["plain"]}>
            {words.settings.linkUntil} <Clock at={made.expires_at} />
          </p>
        </div>
      )}
    </section>
  );
}
