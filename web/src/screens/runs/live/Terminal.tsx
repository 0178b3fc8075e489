import { type ReactNode, useEffect, useRef, useState } from "react";
import { announce } from "../../../app/announce.ts";
import { Button } from "../../../parts/Button.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { boxed, hidesCharacters } from "../../../parts/Foreign.tsx";
import { formatBytes } from "../../../words/formats.ts";
import { words } from "../../../words/words.ts";
import { type Followed, OutputFollower } from "./follow-output.ts";
import styles from "./Terminal.module.css";

const said = words.live;
const ROW_PX = 20;
/** Rows in the page at any time. */
const SHOWN = 60;
const READ_LINES = 20;

/** What an agent prints, as a terminal would show it. Watching only: no key of the page goes to the agent. */
export function Terminal({ run }: { readonly run: string }): ReactNode {
  const [now, setNow] = useState<Followed | null>(null);
  const [isFollowing, setFollowing] = useState(true);
  const follower = useRef<OutputFollower | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const made = new OutputFollower(run, setNow);
    follower.current = made;
    return () => made.close();
  }, [run]);
  const view = now?.view ?? null;
  const total = view?.total ?? 0;
  // The end stays in sight as long as nobody has scrolled away from it.
  useEffect(() => {
    if (isFollowing && total > 0 && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [isFollowing, total]);
  const scrolled = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    const isAtEnd = scrollHeight - scrollTop - clientHeight < ROW_PX * 2;
    setFollowing(isAtEnd);
    follower.current?.look(isAtEnd ? null : Math.max(0, Math.floor(scrollTop / ROW_PX) - 10), SHOWN);
  };
  const latest = () => {
    setFollowing(true);
    follower.current?.look(null, SHOWN);
  };
  const read = () =>
    announce(
      (view?.rows ?? [])
        .slice(-READ_LINES)
        .map((row) => row.map(({ text }) => text).join(""))
        .join("\n"),
    );
  return (
    <section className={styles["terminal"]} aria-label={said.title}>
      <p className={styles["bar"]}>
        <span data-testid="live-lines">
          {said.lines(total, total + (view?.gone ?? 0), formatBytes(now?.size ?? 0))}
        </span>
        {now !== null && now.skipped > 0 ? <span>{said.skipped(formatBytes(now.skipped))}</span> : null}
        {now !== null && now.lost > 0 ? <span>{said.lost(formatBytes(now.lost))}</span> : null}
        <Button kind="quiet" onPress={read}>
          {words.run.readLast}
        </Button>
        {isFollowing ? null : (
          <Button kind="quiet" onPress={latest}>
            {said.latest}
          </Button>
        )}
      </p>
      {now?.problem == null ? null : <Failure thrown={now.problem} />}
      <div
        ref={box}
        className={styles["box"]}
        role="log"
        aria-live="off"
        aria-label={said.title}
        tabIndex={0}
        onScroll={scrolled}
        data-testid="terminal"
      >
        <div className={styles["rows"]} style={{ height: total * ROW_PX }}>
          {view?.rows.map((row, n) => (
            <div
              key={String(view.first + n)}
              className={styles["row"]}
              style={{ transform: `translateY(${(view.first + n) * ROW_PX}px)` }}
            >
              <bdi>
                {row.map(({ text, look }, at) => (
                  <span key={`${at} ${look}`} className={lookClass(look)}>
                    {hidesCharacters(text) ? boxed(text) : text}
                  </span>
                ))}
              </bdi>
            </div>
          ))}
        </div>
      </div>
      {now?.ended === true && now.size === 0 ? <p className={styles["plain"]}>{words.run.nothingPrinted}</p> : null}
    </section>
  );
}

/** Only names that the style sheet has. */
function lookClass(look: string): string | undefined {
  if (look === "") return undefined;
  return look
    .split(" ")
    .map((name) => styles[name])
    .join(" ");
}
