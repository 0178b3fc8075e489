import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { currentAccess } from "../api/session.ts";
import { HomeScreen } from "../screens/home/HomeScreen.tsx";
import { Missing } from "./Missing.tsx";
import { Shell } from "./Shell.tsx";

/** A dialog is part of the address, so that Back closes it. */
const DIALOGS = [
  "apply",
  "discard",
  "undo",
  "verify",
  "continue",
  "take",
  "allow",
  "checks",
  "keys",
  "find",
  "more",
] as const;
export type DialogName = (typeof DIALOGS)[number];

/** Keys of the query that are not known are dropped; none of them is an error. */
function pick<T extends string>(given: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((one) => one === given);
}

function text(given: unknown, longest: number): string | undefined {
  return typeof given === "string" && given !== "" ? given.slice(0, longest) : undefined;
}

function lineNumber(given: unknown): number | undefined {
  const number = Number(given);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** A time as the ledger writes it. */
function moment(given: unknown): string | undefined {
  if (typeof given !== "string" || Number.isNaN(Date.parse(given))) return undefined;
  const at = new Date(given);
  return at.getUTCFullYear() >= 0 && at.getUTCFullYear() <= 9999 ? at.toISOString() : undefined;
}

/** What an address may say. Each key is named, also where it has no value: what was not understood must not stay. */
function known<T extends object>(search: T): { [K in keyof T]?: T[K] | undefined } {
  return search;
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: Missing,
  validateSearch: (search: Record<string, unknown>) => known({ do: pick(search["do"], DIALOGS) }),
  // The token of a world opens that and nothing else.
  beforeLoad: ({ location }) => {
    const { story } = currentAccess();
    if (story === null || location.pathname.startsWith("/worlds/")) return;
    throw redirect({ to: "/worlds/$world", params: { world: story }, replace: true });
  },
});

const home = createRoute({ getParentRoute: () => root, path: "/", component: HomeScreen });

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: (search: Record<string, unknown>) =>
    known({
      q: text(search["q"], 200),
      outcome: text(search["outcome"], 40),
      since: pick(search["since"], ["day", "week", "month"] as const),
      race: text(search["race"], 64),
    }),
  component: lazyRouteComponent(() => import("../screens/runs/RunsScreen.tsx"), "RunsScreen"),
});

const newRun = createRoute({
  getParentRoute: () => root,
  path: "/runs/new",
  validateSearch: (search: Record<string, unknown>) =>
    known({ command: text(search["command"], 40), goal: text(search["goal"], 20_000) }),
  component: lazyRouteComponent(() => import("../screens/start/StartScreen.tsx"), "StartScreen"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/runs/compare",
  validateSearch: (search: Record<string, unknown>) =>
    known({
      ids: text(search["ids"], 2000),
      file: text(search["file"], 4096),
      /** The run that a dialog is about, or that a narrow screen shows. */
      run: text(search["run"], 200),
    }),
  component: lazyRouteComponent(() => import("../screens/compare/CompareScreen.tsx"), "CompareScreen"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$run",
  component: lazyRouteComponent(() => import("../screens/runs/RunScreen.tsx"), "RunScreen"),
});

const runIndex = createRoute({
  getParentRoute: () => run,
  path: "/",
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/runs/$run/review", params, search, replace: true });
  },
});

const review = createRoute({
  getParentRoute: () => run,
  path: "/review",
  validateSearch: (search: Record<string, unknown>) =>
    known({
      file: text(search["file"], 4096),
      hunk: text(search["hunk"], 40),
      line: lineNumber(search["line"]),
      ws: pick(search["ws"], ["hide"] as const),
      view: pick(search["view"], ["unified", "split"] as const),
      panel: pick(search["panel"], ["proof", "gates", "verify", "network", "shown", "hooks"] as const),
    }),
  component: lazyRouteComponent(() => import("../screens/runs/ReviewPart.tsx"), "ReviewPart"),
});

const proof = createRoute({
  getParentRoute: () => run,
  path: "/proof",
  component: lazyRouteComponent(() => import("../screens/runs/ProofPart.tsx"), "ProofPart"),
});

const verify = createRoute({
  getParentRoute: () => run,
  path: "/verify",
  component: lazyRouteComponent(() => import("../screens/runs/VerifyPart.tsx"), "VerifyPart"),
});

const live = createRoute({
  getParentRoute: () => run,
  path: "/live",
  component: lazyRouteComponent(() => import("../screens/runs/LivePart.tsx"), "LivePart"),
});

const output = createRoute({
  getParentRoute: () => run,
  path: "/output",
  component: lazyRouteComponent(() => import("../screens/runs/OutputPart.tsx"), "OutputPart"),
});

const timeline = createRoute({
  getParentRoute: () => run,
  path: "/timeline",
  component: lazyRouteComponent(() => import("../screens/runs/TimelinePart.tsx"), "TimelinePart"),
});

const record = createRoute({
  getParentRoute: () => run,
  path: "/files",
  component: lazyRouteComponent(() => import("../screens/runs/RecordPart.tsx"), "RecordPart"),
});

const recordFile = createRoute({
  getParentRoute: () => run,
  path: "/files/$",
  validateSearch: (search: Record<string, unknown>) =>
    // Elsewhere `at` is a place in a story, and a key has one type for all routes.
    known({ byte: lineNumber(search["byte"] ?? search["at"]), line: lineNumber(search["line"]) }),
  component: lazyRouteComponent(() => import("../screens/runs/RecordPart.tsx"), "RecordFile"),
});

const report = createRoute({
  getParentRoute: () => run,
  path: "/report",
  component: lazyRouteComponent(() => import("../screens/runs/ReportPart.tsx"), "ReportPart"),
});

const context = createRoute({
  getParentRoute: () => root,
  path: "/context",
  validateSearch: (search: Record<string, unknown>) =>
    known({ q: text(search["q"], 500), path: text(search["path"], 4096) }),
  component: lazyRouteComponent(() => import("../screens/context/ContextScreen.tsx"), "ContextScreen"),
});

const section = createRoute({
  getParentRoute: () => root,
  path: "/context/sections/$section",
  validateSearch: (search: Record<string, unknown>) => known({ slice: text(search["slice"], 500) }),
  component: lazyRouteComponent(() => import("../screens/context/SectionScreen.tsx"), "SectionScreen"),
});

const symbols = createRoute({
  getParentRoute: () => root,
  path: "/context/symbols",
  component: lazyRouteComponent(() => import("../screens/context/SymbolsScreen.tsx"), "SymbolsScreen"),
});

const pack = createRoute({
  getParentRoute: () => root,
  path: "/context/pack",
  component: lazyRouteComponent(() => import("../screens/context/PackScreen.tsx"), "PackScreen"),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: (search: Record<string, unknown>) =>
    known({ open: search["open"] === true || search["open"] === "true" ? true : undefined }),
  component: lazyRouteComponent(() => import("../screens/jobs/JobsScreen.tsx"), "JobsScreen"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job",
  component: lazyRouteComponent(() => import("../screens/jobs/JobScreen.tsx"), "JobScreen"),
});

const receipt = createRoute({
  getParentRoute: () => root,
  path: "/jobs/receipts/$hash",
  component: lazyRouteComponent(() => import("../screens/jobs/ReceiptScreen.tsx"), "ReceiptScreen"),
});

const ledger = createRoute({
  getParentRoute: () => root,
  path: "/ledger",
  validateSearch: (search: Record<string, unknown>) =>
    known({
      stream: text(search["stream"], 500),
      kind: text(search["kind"], 200),
      actor: text(search["actor"], 500),
      from: moment(search["from"]),
      to: moment(search["to"]),
    }),
  component: lazyRouteComponent(() => import("../screens/ledger/LedgerScreen.tsx"), "LedgerScreen"),
});

const entryScreen = lazyRouteComponent(() => import("../screens/ledger/EntryScreen.tsx"), "EntryScreen");

const entry = createRoute({ getParentRoute: () => root, path: "/ledger/$index", component: entryScreen });

const entryByHash = createRoute({ getParentRoute: () => root, path: "/ledger/hash/$hash", component: entryScreen });

const checkpoints = createRoute({
  getParentRoute: () => root,
  path: "/ledger/checkpoints",
  component: lazyRouteComponent(() => import("../screens/ledger/CheckpointsScreen.tsx"), "CheckpointsScreen"),
});

const inclusion = createRoute({
  getParentRoute: () => root,
  path: "/ledger/proof/$hash",
  validateSearch: (search: Record<string, unknown>) => known({ size: lineNumber(search["size"]) }),
  component: lazyRouteComponent(() => import("../screens/ledger/InclusionScreen.tsx"), "InclusionScreen"),
});

const bundles = createRoute({
  getParentRoute: () => root,
  path: "/bundles",
  component: lazyRouteComponent(() => import("../screens/bundles/BundlesScreen.tsx"), "BundlesScreen"),
});

const worlds = createRoute({
  getParentRoute: () => root,
  path: "/worlds",
  validateSearch: (search: Record<string, unknown>) =>
    known({ q: text(search["q"], 200), order: pick(search["order"], ["title"] as const) }),
  component: lazyRouteComponent(() => import("../screens/worlds/WorldsScreen.tsx"), "WorldsScreen"),
});

const newWorld = createRoute({
  getParentRoute: () => root,
  path: "/worlds/new",
  component: lazyRouteComponent(() => import("../screens/worlds/NewWorldScreen.tsx"), "NewWorldScreen"),
});

const world = createRoute({
  getParentRoute: () => root,
  path: "/worlds/$world",
  validateSearch: (search: Record<string, unknown>) =>
    known({ viewer: text(search["viewer"], 64), at: text(search["at"], 64) }),
  component: lazyRouteComponent(() => import("../screens/worlds/WorldScreen.tsx"), "WorldScreen"),
});

const story = createRoute({
  getParentRoute: () => world,
  path: "/",
  component: lazyRouteComponent(() => import("../screens/worlds/StoryPart.tsx"), "StoryPart"),
});

const worldSearch = createRoute({
  getParentRoute: () => world,
  path: "/search",
  validateSearch: (search: Record<string, unknown>) => known({ q: text(search["q"], 2000) }),
  component: lazyRouteComponent(() => import("../screens/worlds/SearchPart.tsx"), "SearchPart"),
});

const worldPeople = createRoute({
  getParentRoute: () => world,
  path: "/people",
  component: lazyRouteComponent(() => import("../screens/worlds/PeoplePart.tsx"), "PeoplePart"),
});

const worldPerson = createRoute({
  getParentRoute: () => world,
  path: "/people/$person",
  component: lazyRouteComponent(() => import("../screens/worlds/PersonPart.tsx"), "PersonPart"),
});

const worldTime = createRoute({
  getParentRoute: () => world,
  path: "/time",
  component: lazyRouteComponent(() => import("../screens/worlds/TimePart.tsx"), "TimePart"),
});

const inspector = createRoute({
  getParentRoute: () => world,
  path: "/inspector",
  component: lazyRouteComponent(() => import("../screens/worlds/InspectorPart.tsx"), "InspectorPart"),
});

const inspectedBeat = createRoute({
  getParentRoute: () => world,
  path: "/inspector/$request",
  component: lazyRouteComponent(() => import("../screens/worlds/BeatPart.tsx"), "BeatPart"),
});

const worldHistory = createRoute({
  getParentRoute: () => world,
  path: "/history",
  component: lazyRouteComponent(() => import("../screens/worlds/HistoryPart.tsx"), "HistoryPart"),
});

const worldSettings = createRoute({
  getParentRoute: () => world,
  path: "/settings",
  component: lazyRouteComponent(() => import("../screens/worlds/WorldSettingsPart.tsx"), "WorldSettingsPart"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: Outlet,
});

const settingsIndex = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$part", params: { part: "appearance" }, replace: true });
  },
});

const settingsPart = createRoute({
  getParentRoute: () => settings,
  path: "/$part",
  component: lazyRouteComponent(() => import("../screens/settings/SettingsScreen.tsx"), "SettingsScreen"),
});

const tree = root.addChildren([
  home,
  runs,
  newRun,
  compare,
  run.addChildren([runIndex, review, live, proof, verify, output, timeline, record, recordFile, report]),
  context,
  section,
  symbols,
  pack,
  jobs,
  job,
  receipt,
  ledger,
  entry,
  entryByHash,
  checkpoints,
  inclusion,
  bundles,
  worlds,
  newWorld,
  world.addChildren([
    story,
    worldSearch,
    worldPeople,
    worldPerson,
    worldTime,
    inspector,
    inspectedBeat,
    worldHistory,
    worldSettings,
  ]),
  settings.addChildren([settingsIndex, settingsPart]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  scrollRestoration: true,
  // The newest run is called @, as in a terminal.
  pathParamsAllowedCharacters: ["@"],
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
