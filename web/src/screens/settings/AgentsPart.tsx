import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, type Output } from "../../api/client.ts";
import { queries, reading } from "../../api/queries.ts";
import { useDialog } from "../../app/dialogs.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { NoCommands } from "../start/AgentField.tsx";
import styles from "./AgentsPart.module.css";

type Known = Output<"agent.commands">;
type Command = Known["commands"][number];
const said = words.start.agents;

/** The agents of the configuration with everything that starting one decides, and whether its owner allowed it here. */
export function AgentsPart(): ReactNode {
  const query = useQuery({ ...reading("agent.commands", {}), staleTime: 0 });
  const { shown, open, close } = useDialog();
  const isLost = useIsLost();
  const [asked, setAsked] = useState<Command | null>(null);
  return (
    <section className={styles["agents"]} aria-label={said.title}>
      <p className={styles["plain"]}>{said.why}</p>
      <Shown query={query} lines={5}>
        {(known) => (
          <>
            {known.commands.length === 0 ? <NoCommands mayType={known.starting === "typed"} /> : null}
            <ul className={styles["list"]}>
              {known.commands.map((command) => (
                <li key={command.name}>
                  <header>
                    <h2>
                      <Foreign text={command.name} />
                    </h2>
                    <p className={styles["state"]}>
                      <Mark mark={command.allowed ? "good" : "notice"} />
                      {command.allowed ? words.start.allowed : words.start.notAllowed}
                    </p>
                    {command.allowed && known.starting !== "off" ? (
                      <Link to="/runs/new" search={{ command: command.name }}>
                        {said.startIt}
                      </Link>
                    ) : command.allowed || known.starting !== "typed" ? null : (
                      <Button
                        isDisabled={isLost}
                        onPress={() => {
                          setAsked(command);
                          open("allow");
                        }}
                      >
                        {words.start.allow}
                      </Button>
                    )}
                  </header>
                  <Facts command={command} />
                  {command.allowed || known.starting === "typed" ? null : (
                    <p className={styles["plain"]}>
                      <Foreign text={words.start.allowTerminal(command.name)} />
                    </p>
                  )}
                </li>
              ))}
            </ul>
            <p className={styles["plain"]}>{said.parallel(known.parallel)}</p>
          </>
        )}
      </Shown>
      {shown === "allow" && asked !== null ? <AllowDialog command={asked} close={() => close()} /> : null}
    </section>
  );
}

/** What is allowed is what is shown: its hash goes with the wish, and another command is not allowed by it. */
function AllowDialog({ command, close }: { readonly command: Command; readonly close: () => void }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const allow = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await call("agent.commands", { allow: command.name, sha256: command.sha256 });
      await queries.invalidateQueries({ queryKey: ["agent.commands"] });
      close();
    } catch (thrown) {
      setProblem(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={said.allowTitle(command.name)}
      close={close}
      busy={isBusy}
      act={{ label: said.allow, run: () => void allow() }}
    >
      <p>{said.allowWhy}</p>
      <Facts command={command} />
      {problem === null ? null : <Failure thrown={problem} />}
    </Dialog>
  );
}

function Facts({ command }: { readonly command: Command }): ReactNode {
  const { argv, feedback, profile, verify, setup, timeout_s, network, hosts, keep, sha256 } = command;
  return (
    <dl className={styles["facts"]}>
      <Words name={said.starts} words={argv} />
      {feedback === null ? null : <Words name={said.feedback} words={feedback} />}
      <Words name={said.verify} words={verify} />
      {setup.length === 0 ? null : <Words name={said.setup} words={setup} />}
      {profile === null ? null : <Words name={said.profile} words={[profile]} />}
      <div>
        <dt>{said.network}</dt>
        <dd>{network === null ? said.asAll : words.start.networks[network]}</dd>
      </div>
      {hosts.length === 0 ? null : <Words name={said.hosts} words={hosts} />}
      {timeout_s === null ? null : (
        <div>
          <dt>{said.time}</dt>
          <dd>{said.seconds(timeout_s)}</dd>
        </div>
      )}
      {keep.length === 0 ? null : <Words name={said.keep} words={keep} />}
      <div>
        <dt>{said.hash}</dt>
        <dd>
          <code className={styles["hash"]}>{sha256}</code>
          <CopyButton text={sha256} label={words.copy.hash(said.hash)} />
        </dd>
      </div>
    </dl>
  );
}

/** An argument each: nobody has to guess where one ends. */
function Words({ name, words: list }: { readonly name: string; readonly words: readonly string[] }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {list.length === 0 ? said.none : null}
        {list.map((word, at) => (
          <code key={`${at} ${word}`} className={styles["word"]}>
            <Foreign text={word} />
          </code>
        ))}
      </dd>
    </div>
  );
}
