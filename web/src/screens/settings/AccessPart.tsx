import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ask } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { dropSession } from "../../api/session.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { Age, Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

/** Who is in: every session of this server, and the way to end each. */
export function AccessPart(): ReactNode {
  const query = useQuery({ ...reading("studio.sessions", {}), staleTime: 0 });
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
      <Shown query={query}>
        {({ sessions }) => (
          <ul className={styles["list"]}>
            {sessions.map((session) => (
              <li key={session.id}>
                <div>
                  <p>
                    <Foreign text={session.label} />
                  </p>
                  <p className={styles["plain"]}>
                    <Clock at={session.since} /> · <Age at={session.last_use} />
                  </p>
                </div>
                <Button kind="danger" onPress={() => void end(`/session/${encodeURIComponent(session.id)}`)}>
                  {words.settings.end}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Shown>
      <p>
        <Button onPress={() => void end("/session")}>{words.settings.endThis}</Button>
      </p>
    </section>
  );
}
