import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useActs } from "../../app/acts.ts";
import { announce } from "../../app/announce.ts";
import { copyText } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { Composer, type ComposerHandle } from "./Composer.tsx";
import { type Asked, LineDialogs } from "./LineDialogs.tsx";
import type { LineAct } from "./LineRow.tsx";
import { Side } from "./Side.tsx";
import styles from "./Story.module.css";
import { type Place, StoryList } from "./StoryList.tsx";
import type { Told } from "./story-window.ts";
import { type OpenWorld, useWorld } from "./world-context.ts";

const said = words.worlds;
const route = getRouteApi("/worlds/$world");

/** The story: what was said, and what somebody says next. */
export function StoryPart(): ReactNode {
  const open = useWorld();
  const { id, lines, self } = open;
  const loaded = useSyncExternalStore(lines.listen, lines.read);
  const { at } = route.useSearch();
  const navigate = useNavigate();
  const composer = useRef<ComposerHandle>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [isSideOpen, setSideOpen] = useState(false);
  const placeKey = `verbatim-place ${id} ${self}`;
  const place = useRef<Place | null>(null);
  // A line that the address names, where somebody was, or the end.
  useEffect(() => {
    place.current = at === undefined ? readPlace(placeKey) : null;
    lines.open(at ?? place.current?.entry);
  }, [lines, at, placeKey]);
  const left = useCallback(
    (now: Place | null) => {
      if (now === null) localStorage.removeItem(placeKey);
      else localStorage.setItem(placeKey, JSON.stringify(now));
    },
    [placeKey],
  );
  useAnnouncer(open);
  useStillness();
  const go = (entry: string) => {
    if (at === entry) lines.open(entry);
    else void navigate({ to: "/worlds/$world", params: { world: id }, search: (old) => ({ ...old, at: entry }) });
  };
  const actsFor = useCallback((told: Told) => listActs(open, told), [open]);
  const run = (act: LineAct, told: Told) => {
    const { entry_id, text } = told.line;
    if (act === "copy") void copyText(text);
    else if (act === "link") void copyText(`${location.origin}/worlds/${id}?at=${entry_id}`);
    else if (act === "quote") composer.current?.quote(text);
    else if (act === "inspect") {
      const request = told.meta.request_id;
      if (request !== null) void navigate({ to: "/worlds/$world/inspector/$request", params: { world: id, request } });
    } else setAsked({ act, told });
  };
  useActs([
    { key: "i", label: said.keys.say, run: () => composer.current?.focus() },
    { key: ".", label: said.keys.pass, run: () => composer.current?.pass() },
    { key: "b", label: said.keys.pocket, run: () => setSideOpen(true) },
    { key: "End", label: said.keys.latest, run: () => lines.open() },
  ]);
  return (
    <div className={styles["story"]}>
      <div className={styles["reading"]}>
        <h2 className="unseen">{said.story.label}</h2>
        {loaded.state === "failed" ? (
          <div className={styles["empty"]}>
            <Failure thrown={loaded.problem} again={() => lines.open(at)} />
          </div>
        ) : loaded.state === "loading" ? (
          <div className={styles["empty"]}>
            <Waiting lines={5} />
          </div>
        ) : loaded.lines.length === 0 ? (
          <p className={styles["empty"]}>{open.speaks ? said.story.empty : said.story.emptyReader}</p>
        ) : (
          <StoryList
            key={loaded.place}
            loaded={loaded}
            lines={lines}
            place={place.current}
            left={left}
            actsFor={actsFor}
            run={run}
            go={go}
          />
        )}
        <Composer handle={composer} showSide={() => setSideOpen(true)} />
      </div>
      <aside className={styles["side"]} aria-label={said.side.show} data-region tabIndex={-1}>
        <Side />
      </aside>
      {isSideOpen ? (
        <Dialog title={said.side.show} close={() => setSideOpen(false)}>
          <div className={styles["side"]}>
            <Side />
          </div>
        </Dialog>
      ) : null}
      {asked === null ? null : <LineDialogs asked={asked} close={() => setAsked(null)} />}
    </div>
  );
}

/** What this reader may do with a line; the server decides, and this only leaves out what it would refuse. */
function listActs({ isOwner, isOperator, speaks, self }: OpenWorld, { meta }: Told): LineAct[] {
  const isOwn = meta.author_id === self || isOwner;
  const hasBeat = meta.request_id !== null && !meta.request_id.startsWith("sys:");
  return [
    "copy",
    "link",
    ...(speaks ? (["quote"] as const) : []),
    ...(speaks && isOwn ? (["correct"] as const) : []),
    ...(speaks && isOperator && hasBeat ? (["edit", "versions"] as const) : []),
    ...(speaks ? (["pin"] as const) : []),
    ...(speaks && isOwner ? (["fork"] as const) : []),
    ...(isOwner ? (["knows"] as const) : []),
    ...(isOperator && hasBeat ? (["inspect"] as const) : []),
  ];
}

/** Each finished line is read once to whoever listens; one's own are known. */
function useAnnouncer({ lines, self }: OpenWorld): void {
  const told = useRef(new Set<string>());
  useEffect(
    () =>
      lines.listen(() => {
        const { lines: rows, fresh } = lines.read();
        const news = rows.filter(({ line, meta }) => {
          const isNews = fresh.has(line.entry_id) && !told.current.has(line.entry_id);
          if (isNews) told.current.add(line.entry_id);
          return isNews && meta.author_id !== self;
        });
        if (news.length > 0) announce(news.map(({ line }) => said.story.read(line.author_label, line.text)).join(" "));
      }),
    [lines, self],
  );
}

/** Any key or press shows all of what is being revealed. */
function useStillness(): void {
  useEffect(() => {
    const root = document.documentElement;
    const still = () => root.setAttribute("data-still", "true");
    const move = () => root.removeAttribute("data-still");
    const onKey = (event: globalThis.KeyboardEvent) => {
      // What is sent by this key is revealed again.
      if (event.key === "Enter") move();
      else still();
    };
    document.addEventListener("keydown", onKey);
    document.addEventListener("pointerdown", still);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("pointerdown", still);
      move();
    };
  }, []);
}

function readPlace(key: string): Place | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Partial<Place> | null;
    return typeof kept?.entry === "string" && typeof kept.offset === "number"
      ? { entry: kept.entry, offset: kept.offset }
      : null;
  } catch {
    return null;
  }
}
