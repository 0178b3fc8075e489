import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { worldsApi } from "../../api/worlds.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { saveBytes } from "../../parts/save-bytes.ts";
import { words } from "../../words/words.ts";
import { DropPart } from "./DropPart.tsx";
import styles from "./Forms.module.css";
import { useWorld } from "./world-context.ts";

const said = words.worlds.history;

/** Where the world comes from, whether it is sound, and the whole of it as a file. */
export function HistoryPart(): ReactNode {
  const { id, world, isOwner, speaks } = useWorld();
  const [verdict, setVerdict] = useState<boolean | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isLost = useIsLost();
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    await work().catch(setProblem);
    setBusy(false);
  };
  const verify = () => attempt(async () => setVerdict((await worldsApi.verify(id)).ok));
  const download = () =>
    attempt(async () => saveBytes(await (await worldsApi.exported(id)).arrayBuffer(), `${id}.vworld.jsonl`));
  const { parent } = world;
  return (
    <div className={styles["part"]}>
      <section aria-labelledby="history">
        <h2 id="history">{said.title}</h2>
        <p>{world.kept_world_id === id ? said.kept : said.notKept}</p>
        {world.kept_world_id === id ? null : (
          <p>
            <Link to="/worlds/$world" params={{ world: world.kept_world_id }}>
              {said.open}
            </Link>
          </p>
        )}
        <h3>{said.parent}</h3>
        {parent == null ? (
          <p className={styles["plain"]}>{said.root}</p>
        ) : (
          <p>
            <Link to="/worlds/$world" params={{ world: parent.world_id }}>
              {parent.world_id}
            </Link>{" "}
            <span className={styles["plain"]}>{said.position(parent.position)}</span>
          </p>
        )}
        <p className={styles["plain"]}>{said.fork}</p>
      </section>
      <p className={styles["acts"]}>
        <Button kind="primary" isDisabled={isBusy || isLost} onPress={() => void verify()}>
          {isBusy ? said.verifying : said.verify}
        </Button>
        {isOwner ? (
          <Button isDisabled={isBusy || isLost} onPress={() => void download()}>
            {said.export}
          </Button>
        ) : null}
      </p>
      <p role="status" className={styles["acts"]}>
        {verdict === null ? null : (
          <>
            <Mark mark={verdict ? "good" : "bad"} />
            {verdict ? said.sound : said.broken}
          </>
        )}
      </p>
      {problem === null ? null : <Failure thrown={problem} />}
      {isOwner && speaks ? <DropPart into={id} /> : null}
    </div>
  );
}
