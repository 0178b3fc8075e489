import type { ReactNode } from "react";
import { Foreign } from "../../../parts/Foreign.tsx";
import { formatBytes } from "../../../words/formats.ts";
import { words } from "../../../words/words.ts";
import { Findings } from "../Checked.tsx";
import type { Summary } from "../use-run.ts";
import styles from "./ChecksPanel.module.css";

const said = words.panel;
const SECRET = "POLICY_SECRET";

/** What it could reach, what it reached, and what was kept from it. */
export function NetworkTab({ run }: { readonly run: Summary }): ReactNode {
  const { network, gate, agent } = run;
  const secrets = gate === null ? [] : gate.findings.filter(({ code }) => code === SECRET);
  return (
    <>
      <section className={styles["section"]}>
        <h2>{words.run.parts.network}</h2>
        {network === null ? <p className={styles["plain"]}>{said.noNet}</p> : <Network network={network} />}
      </section>
      {secrets.length === 0 ? (
        <Names title={said.secrets} names={[]} none={said.noSecrets} />
      ) : (
        <Findings run={{ ...run, gate: { ...gate!, findings: secrets } }} title={said.secrets} />
      )}
      <Names title={said.hidden} names={agent.hidden} none={said.noHidden} />
      {agent.not_hidden.length === 0 ? null : <Names title={said.notHidden} names={agent.not_hidden} none="" />}
      <Names title={said.withheld} names={agent.withheld} none={said.noWithheld} />
    </>
  );
}

function Network({ network }: { readonly network: NonNullable<Summary["network"]> }): ReactNode {
  const { mode, hosts, allowed, refused, connections, lost } = network;
  return (
    <>
      <p>{mode === "allow" ? said.nets.allow(hosts.length) : said.nets[mode]}</p>
      {mode !== "allow" ? null : (
        <>
          <p>{said.made(allowed, refused)}</p>
          {lost ? <p>{said.lost}</p> : null}
          <Names title={said.hosts} names={hosts} none="" />
          {connections.length === 0 ? null : (
            <>
              <h3>{said.connections}</h3>
              <ul className={styles["list"]}>
                {connections.map(({ host, port, verdict, count }) => (
                  <li key={`${host} ${port} ${verdict}`}>
                    <code>
                      <Foreign text={host === "" ? said.noName : host} />
                      {port === null ? null : `:${port}`}
                    </code>
                    <span className={styles["plain"]}>
                      {said.verdicts[verdict]}, {said.times(count)}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </>
  );
}

/** Files that were quoted to it. */
export function ShownTab({ run: { shown } }: { readonly run: Summary }): ReactNode {
  if (shown.files.length === 0) return <Names title={said.tabs.shown} names={[]} none={said.noShown} />;
  return (
    <>
      <Names title={said.tabs.shown} names={shown.files} none="" />
      <p>{said.shown(shown.files.length, formatBytes(shown.bytes))}</p>
    </>
  );
}

/** What it said of its own actions, and that nothing confirms it. */
export function HooksTab({ run: { hooks } }: { readonly run: Summary }): ReactNode {
  return (
    <section className={styles["section"]}>
      <h2>{said.tabs.hooks}</h2>
      <p>{hooks.reported === 0 ? said.noHooks : said.hooks(hooks.reported, hooks.reported_blocked)}</p>
      <p className={styles["plain"]}>{said.hooksWhy}</p>
    </section>
  );
}

function Names(props: { readonly title: string; readonly names: readonly string[]; readonly none: string }): ReactNode {
  const { title, names, none } = props;
  return (
    <section className={styles["section"]}>
      <h2>{title}</h2>
      {names.length === 0 ? <p className={styles["plain"]}>{none}</p> : null}
      <ul className={styles["list"]}>
        {names.map((name) => (
          <li key={name}>
            <code>
              <Foreign text={name} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}
