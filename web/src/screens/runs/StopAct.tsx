import { type ReactNode, useState } from "react";
import { call } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { plainText } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import styles from "./StopAct.module.css";

const said = words.live;

/** Asks an agent at work to end; whoever cannot wait ends it. */
export function StopAct(props: {
  readonly run: string;
  readonly goal: string;
  /** Beside a row there is no room for the consequence; it is the title there. */
  readonly brief?: boolean;
}): ReactNode {
  const { run, goal, brief = false } = props;
  const isLost = useIsLost();
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const stop = async (now: boolean) => {
    setProblem(null);
    setAsked(true);
    try {
      await call("agent.stop", { run, now });
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("agent.") });
    } catch (thrown) {
      setAsked(false);
      setProblem(thrown);
    }
  };
  return (
    <div className={styles["stop"]} title={brief ? said.stopWhy : undefined}>
      {isAsked ? (
        <>
          <span role="status">{said.stopping}</span>
          <Button kind="danger" isDisabled={isLost} onPress={() => void stop(true)}>
            {said.now}
          </Button>
        </>
      ) : (
        <Button
          kind="danger"
          isDisabled={isLost}
          aria-label={brief ? said.stopRun(plainText(goal, 60)) : said.stop}
          onPress={() => void stop(false)}
        >
          {said.stop}
        </Button>
      )}
      {brief || isAsked ? null : <span className={styles["why"]}>{said.stopWhy}</span>}
      {problem === null ? null : <Failure thrown={problem} />}
    </div>
  );
}
