import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { queries } from "../../api/queries.ts";
import { currentAccess } from "../../api/session.ts";
import { followWorld } from "../../api/world-stream.ts";
import { type People, type World, worldsApi } from "../../api/worlds.ts";
import { useActs } from "../../app/acts.ts";
import { Button } from "../../parts/Button.tsx";
import { Boundary, Failure } from "../../parts/Failure.tsx";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { nameIn, worldClock } from "./names.ts";
import { Sending } from "./sending.ts";
import { StoryWindow } from "./story-window.ts";
import styles from "./WorldScreen.module.css";
import { type OpenWorld, WorldContext } from "./world-context.ts";

const said = words.worlds;
const route = getRouteApi("/worlds/$world");

/** One world: its story, and what surrounds it. */
export function WorldScreen(): ReactNode {
  const { world: id } = route.useParams();
  const { viewer } = route.useSearch();
  const shown = useQuery({ queryKey: ["world.show", { world: id }], queryFn: () => worldsApi.show(id) });
  const people = useQuery({ queryKey: ["world.people", { world: id }], queryFn: () => worldsApi.people(id) });
  const failed = shown.error ?? people.error;
  if (shown.data === undefined || people.data === undefined) {
    return (
      <div className={styles["waiting"]}>
        <h1 className="unseen">{said.title}</h1>
        {failed === null ? (
          <Waiting lines={6} />
        ) : (
          <Failure
            thrown={failed}
            again={() => {
              void shown.refetch();
              void people.refetch();
            }}
          />
        )}
      </div>
    );
  }
  return <Opened key={`${id} ${viewer ?? ""}`} id={id} world={shown.data} people={people.data} />;
}

function Opened({
  id,
  world,
  people,
}: {
  readonly id: string;
  readonly world: World;
  readonly people: People;
}): ReactNode {
  const { viewer } = route.useSearch();
  const access = currentAccess();
  const navigate = useNavigate();
  const lines = useRef<StoryWindow>(null);
  lines.current ??= new StoryWindow(id, viewer);
  const sending = useRef<Sending>(null);
  sending.current ??= new Sending(id);
  /** The version that was kept while somebody read this one. */
  const [moved, setMoved] = useState<string | null>(null);
  const operator = people.operator.operator_id;
  const isOwner = access.role === "owner";
  const isOperator = isOwner || access.role === "operator";
  const reads = isOwner ? viewer : undefined;
  const self = access.viewer ?? reads ?? operator;
  // A reader's token opens the version that is kept.
  useEffect(() => {
    if (isOperator || world.kept_world_id === id) return;
    void navigate({ to: "/worlds/$world", params: { world: world.kept_world_id }, replace: true });
  }, [isOperator, world.kept_world_id, id, navigate]);
  useEffect(() => {
    const window = lines.current!;
    const desk = sending.current!;
    desk.resume(operator);
    const stop = followWorld(id, reads, {
      lines: () => window.newer(true),
      pocket: (pocket) => window.setPocket(pocket),
      status: (status) => desk.status(status),
      around: () =>
        void queries.invalidateQueries({ predicate: ({ queryKey: [name, input] }) => isOf(name, input, id) }),
      kept: (kept) => {
        setMoved(kept === id ? null : kept);
        void queries.invalidateQueries({ queryKey: ["world.show"] });
      },
    });
    return () => {
      stop();
      desk.leave();
    };
  }, [id, operator, reads]);
  const title = world.settings?.title ?? world.title ?? id;
  useEffect(() => {
    document.title = `${plainText(title, 60)} - ${words.product}`;
  }, [title]);
  const open = useMemo(
    (): OpenWorld => ({
      id,
      world,
      people,
      access,
      viewer: reads,
      self,
      title,
      operator,
      speaks: access.role !== "viewer" && reads === undefined,
      isOwner,
      isOperator,
      lines: lines.current!,
      sending: sending.current!,
    }),
    [id, world, people, access, reads, self, title, operator, isOwner, isOperator],
  );
  return (
    <WorldContext value={open}>
      <div className={styles["world"]}>
        <header className={styles["header"]}>
          <h1 tabIndex={-1} title={plainText(title, 120)}>
            <Foreign text={title} />
          </h1>
          {world.world_time === undefined ? null : (
            <p className={styles["clock"]}>
              {worldClock(world.world_time)}
              {world.paused === true ? `, ${said.pocket.paused}` : ""}
            </p>
          )}
          <Tabs open={open} />
        </header>
        <Banner open={open} moved={moved} />
        <Boundary>
          <Outlet />
        </Boundary>
      </div>
    </WorldContext>
  );
}

/** Whether what was asked is about this world. */
function isOf(name: unknown, input: unknown, id: string): boolean {
  if (!String(name).startsWith("world.")) return false;
  return name === "world.list" || (input as { readonly world?: string } | undefined)?.world === id;
}

const PARTS = ["story", "search", "people", "time", "inspector", "history", "settings"] as const;
type Part = (typeof PARTS)[number];
const PLACE: Readonly<Record<Part, "" | `/${Exclude<Part, "story">}`>> = {
  story: "",
  search: "/search",
  people: "/people",
  time: "/time",
  inspector: "/inspector",
  history: "/history",
  settings: "/settings",
};

function mayOpen(part: Part, { isOwner, isOperator }: OpenWorld): boolean {
  if (part === "settings") return isOwner;
  return part === "time" || part === "inspector" || part === "history" ? isOperator : true;
}

function Tabs({ open }: { readonly open: OpenWorld }): ReactNode {
  const { id } = open;
  const parts = PARTS.filter((part) => mayOpen(part, open));
  const here = useRouterState({
    select: ({ location }) => location.pathname.split("/")[3] ?? "",
  });
  const navigate = useNavigate();
  const step = (by: number) => {
    const at = Math.max(0, parts.indexOf((here === "" ? "story" : here) as Part));
    void navigate({
      to: `/worlds/$world${PLACE[parts[(at + by + parts.length) % parts.length]!]}`,
      params: { world: id },
    });
  };
  useActs([
    { key: "[", label: words.keys.tab, run: () => step(-1) },
    { key: "]", label: words.keys.tab, run: () => step(1) },
    ...(open.isOperator
      ? [
          {
            key: "t",
            label: said.keys.time,
            run: () => void navigate({ to: "/worlds/$world/time", params: { world: id } }),
          },
        ]
      : []),
    {
      key: "/",
      label: words.keys.search,
      run: () => void navigate({ to: "/worlds/$world/search", params: { world: id } }),
    },
  ]);
  return (
    <nav className={styles["parts"]} aria-label={said.tabsLabel}>
      {parts.map((part) => (
        <Link
          key={part}
          to={`/worlds/$world${PLACE[part]}`}
          params={{ world: id }}
          search={(old: { viewer?: string | undefined }) => (old.viewer === undefined ? {} : { viewer: old.viewer })}
          className={styles["part"]!}
          activeProps={{ className: `${styles["part"]} ${styles["here"]}`, "aria-current": "page" }}
          activeOptions={{ exact: part === "story", includeSearch: false }}
          resetScroll={false}
        >
          {said.tabs[part]}
        </Link>
      ))}
    </nav>
  );
}

/** What is not as somebody would expect: another version, or somebody else's eyes. */
function Banner({ open, moved }: { readonly open: OpenWorld; readonly moved: string | null }): ReactNode {
  const { id, world, people, viewer, isOperator } = open;
  const [problem, setProblem] = useState<unknown>(null);
  const kept = moved ?? world.kept_world_id;
  const keep = () => {
    setProblem(null);
    worldsApi
      .keep(id, id)
      .then(
        () =>
          void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => String(name).startsWith("world.") }),
        setProblem,
      );
  };
  if (viewer !== undefined) {
    return (
      <p className={styles["banner"]} data-testid="view-as">
        <Foreign text={said.story.viewAs(nameIn(people, viewer, said.knows.world))} />
        <Link to="/worlds/$world" params={{ world: id }}>
          {said.story.viewEnd}
        </Link>
      </p>
    );
  }
  if (kept === id) return null;
  return (
    <div className={styles["banner"]}>
      <p>{isOperator ? said.story.version : said.story.keptMoved}</p>
      <Link to="/worlds/$world" params={{ world: kept }}>
        {said.story.versionGo}
      </Link>
      {isOperator ? (
        <Button kind="quiet" onPress={keep}>
          {said.story.versionKeep}
        </Button>
      ) : null}
      {problem === null ? null : <Failure thrown={problem} />}
    </div>
  );
}
