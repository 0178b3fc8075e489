import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ask } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { currentSessionId, dropSession } from "../../api/session.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { PlainHttp } from "../../parts/PlainHttp.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Age, Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import { DeviceLink } from "./DeviceLink.tsx";
import styles from "./SettingsScreen.module.css";

/** Who is in: every session of this server, and the way to end each. */
export function AccessPart(): ReactNode {
  const query = useQuery({ ...reading("studio.sessions", {}), staleTime: 0 });
  const isLost = useIsLost();
  const mine = currentSessionId();
  const [problem, setProblem] = useState<unknown>(null);
  const end = async (path: string) => {
    try {
      await ask("DELETE", path);
      if (path === "/session") dropSession();
      await queries.invalidateQueries({ queryKey: ["studio.sessions"] });
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <section className={styles["fields"]} aria-label={words.settings.sessions}>
      {problem === null ? null : <Failure thrown={problem} />}
      <PlainHttp />
      <Shown query={query}>
        {({ sessions }) => (
          <ul className={styles["list"]}>
            {sessions.map((session) => (
              <li key={session.id}>
                <div>
                  <p>
                    <Foreign text={session.label} />
                    {session.id === mine ? <span className={styles["own"]}>{words.settings.thisSession}</span> : null}
                  </p>
                  <p className={styles["plain"]}>
                    {words.settings.since} <Clock at={session.since} />, {words.settings.lastUse}{" "}
                    <Age at={session.last_use} />
                  </p>
                </div>
                <Button
                  kind={session.id === mine ? "plain" : "danger"}
                  isDisabled={isLost}
                  onPress={() =>
                    void end(session.id === mine ? "/session" : `/session/${encodeURIComponent(session.id)}`)
                  }
                >
                  {session.id === mine ? words.settings.endThis : words.settings.end}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <DeviceLink />
    </section>
  );
}
