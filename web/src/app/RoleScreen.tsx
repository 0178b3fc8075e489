import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Output } from "../api/client.ts";
import { reading } from "../api/queries.ts";
import { Foreign } from "../parts/Foreign.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Age } from "../parts/When.tsx";
import { words } from "../words/words.ts";
import { Page } from "./Page.tsx";
import styles from "./RoleScreen.module.css";

const said = words.roles;

/** For somebody of a team who is not its owner: what their key opens, what it does not, and the runs that wait for workers. */
export function RoleScreen({
  role,
  isHome,
}: {
  readonly role: "reader" | "reviewer";
  readonly isHome: boolean;
}): ReactNode {
  return (
    <Page title={isHome ? said.title[role] : words.failure.notAllowed}>
      {isHome ? null : <p>{said.title[role]}.</p>}
      <ul className={styles["may"]}>
        {said.may[role].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <p className={styles["plain"]}>{said.not}</p>
      <Queued />
    </Page>
  );
}

function Queued(): ReactNode {
  const query = useQuery({ ...reading("agent.queued", { limit: 20 }), retry: false });
  return (
    <section className={styles["queued"]} aria-label={said.queued}>
      <h2>{said.queued}</h2>
      <Shown query={query}>
        {({ runs }) =>
          runs.length === 0 ? (
            <p className={styles["plain"]}>{said.none}</p>
          ) : (
            <ul>
              {runs.map((run) => (
                <QueuedRow key={run.run_id} run={run} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

function QueuedRow({ run }: { readonly run: Output<"agent.queued">["runs"][number] }): ReactNode {
  return (
    <li>
      <span className={styles["goal"]}>
        <Foreign text={run.goal} />
      </span>
      <span>
        <Foreign text={run.state} />
      </span>
      <span className={styles["plain"]}>
        {words.files(run.files)} {words.plusMinus(run.added, run.deleted)}
      </span>
      <span className={styles["plain"]}>
        <Foreign text={said.asked(run.asked_by)} /> <Age at={run.asked_at} />
      </span>
      {run.reason === null ? null : (
        <p className={styles["plain"]}>
          <Foreign text={run.reason} />
        </p>
      )}
    </li>
  );
}
