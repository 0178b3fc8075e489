import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from "react";
import type { Output } from "../../api/client.ts";
import { worldsApi } from "../../api/worlds.ts";
import { useIsLost } from "../../app/use-connection.ts";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { sayEnd } from "./Composer.tsx";
import styles from "./Forms.module.css";
import { toLocalField, worldClock } from "./names.ts";
import { useWorld } from "./world-context.ts";

const said = words.worlds.time;

interface Wish {
  readonly at: string | null;
  readonly timezone: string | null;
  readonly pause: boolean | null;
}

/** The clock of the story. What a declaration would do is shown before it is made. */
export function TimePart(): ReactNode {
  const { id, world, operator, speaks, sending } = useWorld();
  const desk = useSyncExternalStore(sending.listen, sending.read);
  const [at, setAt] = useState(world.world_time === undefined ? "" : toLocalField(world.world_time));
  const [zone, setZone] = useState(world.timezone ?? "");
  const [asked, setAsked] = useState<Wish | null>(null);
  const preview = useQuery({
    queryKey: ["world.time-preview", { world: id, ...asked }],
    queryFn: () => worldsApi.previewTime(id, { at: asked?.at, timezone: asked?.timezone, pause: asked?.pause }),
    enabled: asked !== null,
    staleTime: 0,
    gcTime: 0,
  });
  const isLost = useIsLost();
  const look = (event: FormEvent) => {
    event.preventDefault();
    const timezone = zone.trim() === "" || zone.trim() === world.timezone ? null : zone.trim();
    setAsked({ at: at === "" ? null : at, timezone, pause: null });
  };
  const declare = () => {
    if (asked !== null) sending.send(operator, "", {}, asked);
    setAsked(null);
  };
  const policy = world.settings?.time_policy.kind;
  const waiting = desk.sent.find(({ declared }) => declared !== null);
  return (
    <div className={styles["part"]}>
      <section aria-labelledby="clock">
        <h2 id="clock">{said.title}</h2>
        {world.world_time === undefined ? (
          <p>{words.worlds.pocket.hidden}</p>
        ) : (
          <p>{said.now(worldClock(world.world_time), world.timezone ?? "")}</p>
        )}
        {world.paused === true ? <p>{said.paused}</p> : null}
        {policy === undefined ? null : <p className={styles["plain"]}>{said.runs[policy]}</p>}
      </section>
      {speaks ? (
        <form className={styles["field"]} onSubmit={look}>
          <h2>{said.declare}</h2>
          <div className={styles["pair"]}>
            <label className={styles["field"]}>
              <span>{said.date}</span>
              <input type="datetime-local" value={at} onChange={({ target }) => setAt(target.value)} />
            </label>
            <label className={styles["field"]}>
              <span>{said.zone}</span>
              <input value={zone} maxLength={64} onChange={({ target }) => setZone(target.value)} />
            </label>
          </div>
          <p className={styles["acts"]}>
            <Button kind="primary" type="submit" isDisabled={isLost}>
              {said.look}
            </Button>
            <Button
              isDisabled={isLost}
              onPress={() => setAsked({ at: null, timezone: null, pause: world.paused !== true })}
            >
              {world.paused === true ? said.resume : said.pause}
            </Button>
          </p>
        </form>
      ) : null}
      <p role="status">{desk.ended === null ? "" : sayEnd(desk.ended)}</p>
      {waiting?.state === "refused" ? <Failure thrown={waiting.problem} /> : null}
      {asked !== null && preview.error !== null ? (
        <Failure thrown={preview.error} again={() => void preview.refetch()} />
      ) : null}
      {asked === null || preview.data === undefined ? null : (
        <Dialog title={said.declare} close={() => setAsked(null)} act={{ label: said.act, run: declare }}>
          <Effect preview={preview.data} />
        </Dialog>
      )}
    </div>
  );
}

function Effect({ preview }: { readonly preview: Output<"world.time-preview"> }): ReactNode {
  const { clock_after, timezone, gap_ms, paused, due } = preview;
  return (
    <>
      <p>{said.now(worldClock(clock_after), timezone)}</p>
      <p>{said.gap(gap_ms)}</p>
      {paused ? <p>{said.paused}</p> : null}
      {due.length === 0 ? (
        <p className={styles["plain"]}>{said.nothingDue}</p>
      ) : (
        <>
          <p>{said.due}</p>
          <ul className={styles["list"]}>
            {due.map(({ item_id, title, time }) => (
              <li key={item_id}>
                <Foreign text={title} />
                <span className={styles["plain"]}>{time === null ? "" : worldClock(time)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
