import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Ellipsis, Search, WifiOff } from "lucide-react";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { currentAccess, currentSession, onSession } from "../api/session.ts";
import { Boundary } from "../parts/Failure.tsx";
import { formatSecond } from "../words/formats.ts";
import { words } from "../words/words.ts";
import { announce, useAnnounced } from "./announce.ts";
import { useDialog } from "./dialogs.ts";
import { Finder } from "./Finder.tsx";
import { KeyList } from "./KeyList.tsx";
import { KeyScreen } from "./KeyScreen.tsx";
import { MorePlaces } from "./MorePlaces.tsx";
import { isForReaders, listPlaces } from "./places.ts";
import { RoleScreen } from "./RoleScreen.tsx";
import styles from "./Shell.module.css";
import { useConnection } from "./use-connection.ts";
import { useRole } from "./use-role.ts";

/** What surrounds every screen: where one can go, whether the server answers, and what a screen reader is told. */
export function Shell(): ReactNode {
  const session = useSyncExternalStore(onSession, currentSession);
  // Whoever came with the token of a world has one place, and needs no way to others.
  const isAlone = currentAccess().story !== null;
  return (
    <>
      <a className={styles["skip"]} href="#content">
        {words.skip}
      </a>
      {/* Kept mounted while the key is asked for again: what somebody typed must not be lost. */}
      <div className={styles["shell"]} data-alone={isAlone} inert={session === null}>
        {isAlone ? null : <Places />}
        <div className={styles["main"]}>
          <LostLine />
          <main id="content" className={styles["content"]} data-region tabIndex={-1} aria-label={words.regions.content}>
            <Boundary>
              <Screen />
            </Boundary>
          </main>
        </div>
      </div>
      <Dialogs />
      {/* Beside the page and not in it: while a dialog is open the whole page is inert. */}
      {session === null ? createPortal(<KeyScreen again />, document.body) : null}
      <Announcer />
    </>
  );
}

/** What is at the address, or what the key of whoever asks opens instead. */
function Screen(): ReactNode {
  const role = useRole();
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  if ((role !== "reader" && role !== "reviewer") || isForReaders(pathname)) return <Outlet />;
  return <RoleScreen role={role} isHome={pathname === "/"} />;
}

function Places(): ReactNode {
  const { open } = useDialog();
  return (
    <nav className={styles["places"]} aria-label={words.regions.places} data-region tabIndex={-1}>
      <p className={styles["brand"]}>
        <span className={styles["sign"]} aria-hidden>
          v
        </span>
        <span className={styles["word"]}>{words.product}</span>
      </p>
      <ul className={styles["list"]}>
        {listPlaces().map(({ to, label, icon: Icon, onPhone }) => (
          <li key={to} className={onPhone ? undefined : styles["wider"]}>
            <Link
              to={to}
              className={styles["place"]!}
              activeProps={{ className: `${styles["place"]} ${styles["here"]}` }}
              activeOptions={{ exact: to === "/" }}
              title={label}
            >
              <Icon size={20} strokeWidth={1.75} aria-hidden />
              <span className={styles["word"]}>{label}</span>
            </Link>
          </li>
        ))}
        <li className={styles["more"]}>
          <button type="button" className={styles["place"]} onClick={() => open("more")}>
            <Ellipsis size={20} strokeWidth={1.75} aria-hidden />
            <span className={styles["word"]}>{words.places.more}</span>
          </button>
        </li>
      </ul>
      <button type="button" className={styles["find"]} title={words.palette.title} onClick={() => open("find")}>
        <Search size={20} strokeWidth={1.75} aria-hidden />
        <span className={styles["word"]}>{words.keys.palette}</span>
        <kbd className={styles["word"]}>Ctrl K</kbd>
      </button>
      <Light />
    </nav>
  );
}

function Light(): ReactNode {
  const { state } = useConnection();
  return (
    <p className={styles["light"]} data-state={state} title={words.connection[state]}>
      <span className={styles["dot"]} aria-hidden />
      <span className={styles["word"]}>{words.connection[state]}</span>
    </p>
  );
}

/** One line when nobody answers: what is on the screen stays, with the time it is from. */
function LostLine(): ReactNode {
  const { state, heard } = useConnection();
  useEffect(() => {
    if (state !== "lost") return;
    announce(words.announced.lost, "urgent");
    return () => announce(words.announced.back);
  }, [state]);
  if (state !== "lost") return null;
  return (
    <p className={styles["lost"]}>
      <WifiOff size={18} strokeWidth={1.75} aria-hidden />
      {words.connection.lostLine(location.host, heard === null ? null : formatSecond(heard))}
    </p>
  );
}

function Dialogs(): ReactNode {
  const { shown, close } = useDialog();
  if (shown === "find") return <Finder close={close} />;
  if (shown === "more") return <MorePlaces close={close} />;
  if (shown === "keys") return <KeyList close={close} />;
  return null;
}

function Announcer(): ReactNode {
  const { polite, urgent } = useAnnounced();
  return (
    <>
      <div className="unseen" role="status" aria-live="polite">
        {polite}
      </div>
      <div className="unseen" role="alert" aria-live="assertive">
        {urgent}
      </div>
    </>
  );
}
