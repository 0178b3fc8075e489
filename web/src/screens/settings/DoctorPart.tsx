import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { reading } from "../../api/queries.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./SettingsScreen.module.css";

const MARKS = { ok: "good", warn: "notice", fail: "bad" } as const;

/** What works on this machine and what does not, with what to do about it. */
export function DoctorPart(): ReactNode {
  const isLost = useIsLost();
  const query = useQuery({ ...reading("hall.doctor", {}), staleTime: 0 });
  return (
    <section className={styles["fields"]} aria-label={words.settings.tabs.doctor}>
      <p>
        <Button onPress={() => void query.refetch()} isDisabled={query.isFetching || isLost}>
          {words.settings.doctorAgain}
        </Button>
      </p>
      <Shown query={query} lines={8}>
        {({ checks }) => (
          <ul className={styles["list"]}>
            {checks.map((check) => (
              <li key={check.name}>
                <Mark mark={MARKS[check.status]} />
                <div>
                  <p>
                    <Foreign text={check.name} />
                  </p>
                  <p className={styles["plain"]}>
                    <Foreign text={check.message} />
                  </p>
                  {check.fix == null ? null : (
                    <p>
                      <Foreign text={check.fix} />
                    </p>
                  )}
                </div>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  );
}
