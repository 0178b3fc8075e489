import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState, useSyncExternalStore } from "react";
import { queries } from "../../api/queries.ts";
import { type Pocket as PocketData, worldsApi } from "../../api/worlds.ts";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { worldClock } from "./names.ts";
import { Prose } from "./Prose.tsx";
import styles from "./Story.module.css";
import { useWorld } from "./world-context.ts";

const said = words.worlds;

/** Who is here, and what the reader carries along: clock, calendar, messages, pins. */
export function Side(): ReactNode {
  const { lines } = useWorld();
  const { pocket } = useSyncExternalStore(lines.listen, lines.read);
  return (
    <>
      <Present />
      {pocket === null ? null : <Pocket pocket={pocket} />}
      <Pins />
    </>
  );
}

function Present(): ReactNode {
  const { id, people, self, speaks, isOperator } = useWorld();
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const mayMove = speaks && isOperator;
  const { operator } = people;
  const here = [
    { id: operator.operator_id, name: operator.name, present: operator.present },
    ...people.people.map((one) => ({ id: one.person_id, name: one.display_name, present: one.present })),
  ];
  const move = async (person: string, comes: boolean) => {
    setProblem(null);
    setBusy(true);
    const present = here.filter((one) => (one.id === person ? comes : one.present)).map((one) => one.id);
    try {
      await worldsApi.presence(id, present);
      await queries.invalidateQueries({ queryKey: ["world.people"] });
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-labelledby="side-people">
      <h2 id="side-people">{said.cast.hereTitle}</h2>
      <ul>
        {here.map((one) => (
          <li key={one.id} className={styles["person"]}>
            <span>
              {one.id === operator.operator_id ? (
                <Foreign text={one.name} />
              ) : (
                <Link to="/worlds/$world/people/$person" params={{ world: id, person: one.id }} search={(old) => old}>
                  <Foreign text={one.name} />
                </Link>
              )}{" "}
              {one.id === self ? <span className={styles["plain"]}>({said.cast.you})</span> : null}
            </span>
            {mayMove ? (
              <label className={styles["tick"]}>
                <input
                  type="checkbox"
                  checked={one.present}
                  disabled={isBusy}
                  aria-label={said.cast.toggle(one.name, one.present)}
                  onChange={({ target }) => void move(one.id, target.checked)}
                />
                <span className={styles["plain"]}>{one.present ? said.cast.present : said.cast.absent}</span>
              </label>
            ) : (
              <span className={styles["plain"]}>{one.present ? said.cast.present : said.cast.absent}</span>
            )}
          </li>
        ))}
      </ul>
      {problem === null ? null : <Failure thrown={problem} />}
    </section>
  );
}

function Pocket({ pocket }: { readonly pocket: PocketData }): ReactNode {
  const { clock, calendar, messages } = pocket;
  return (
    <section aria-labelledby="side-pocket">
      <h2 id="side-pocket">{said.pocket.title}</h2>
      {pocket.is_available ? (
        <>
          <p>
            {clock.world_time === null
              ? said.pocket.hidden
              : said.time.now(worldClock(clock.world_time), clock.timezone ?? "")}
          </p>
          <h3>{said.pocket.calendar}</h3>
          {calendar.items.length === 0 ? <p className={styles["plain"]}>{said.pocket.noItems}</p> : null}
          <ul>
            {calendar.items.map(({ title, time, location, notes }, at) => (
              <li key={String(at)} className={styles["item2"]}>
                <span>
                  <Foreign text={title} />
                </span>
                <span className={styles["plain"]}>
                  <Foreign
                    text={[time === null ? "" : worldClock(time), location ?? "", notes ?? ""]
                      .filter((part) => part !== "")
                      .join(", ")}
                  />
                </span>
              </li>
            ))}
          </ul>
          <h3>{said.pocket.messages}</h3>
          {messages.items.length === 0 ? <p className={styles["plain"]}>{said.pocket.noMessages}</p> : null}
          <ul>
            {messages.items.map(({ from, text, time }, at) => (
              <li key={String(at)} className={styles["item2"]}>
                <span className={styles["plain"]}>
                  <Foreign text={`${from}, ${worldClock(time)}`} />
                </span>
                <span dir="auto">
                  <Prose text={text} />
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p className={styles["plain"]}>{said.pocket.unavailable}</p>
      )}
    </section>
  );
}

function Pins(): ReactNode {
  const { id, viewer, speaks } = useWorld();
  const query = useQuery({
    queryKey: ["world.pins", { world: id, viewer }],
    queryFn: () => worldsApi.pins(id, viewer),
  });
  const pins = query.data?.pins ?? [];
  if (pins.length === 0) return null;
  const remove = (pin: string) => void worldsApi.unpin(id, pin).finally(() => void query.refetch());
  return (
    <section aria-labelledby="side-pins">
      <h2 id="side-pins">{said.pin.list}</h2>
      <ul>
        {pins.map(({ pin_id, entry_id, quote }) => (
          <li key={pin_id} className={styles["person"]}>
            <Link to="/worlds/$world" params={{ world: id }} search={(old) => ({ ...old, at: entry_id })}>
              <Foreign text={quote.slice(0, 200)} />
            </Link>
            {speaks ? (
              <button type="button" className={styles["small"]} onClick={() => remove(pin_id)}>
                {said.pin.remove}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
