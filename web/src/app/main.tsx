import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { openSession } from "../api/client.ts";
import { followEvents } from "../api/events.ts";
import { forgetAnswers } from "../api/kept.ts";
import { applyEvent, queries } from "../api/queries.ts";
import { askOtherTabs, currentAccess, currentSession, dropSession, onSession } from "../api/session.ts";
import { copyText } from "../parts/Copy.tsx";
import { words } from "../words/words.ts";
import { announce } from "./announce.ts";
import { applyAppearance } from "./appearance.ts";
import { KeyScreen } from "./KeyScreen.tsx";
import { listenForKeys } from "./keys.ts";
import { giveNotice } from "./notices.ts";
import { PLACES } from "./places.ts";
import { router } from "./router.tsx";
import { scriptUrl } from "./script-url.ts";
import "./tokens.css";

/** Opens the Studio with the code of a link, with the session of this tab, or with that of another tab. */
export function startStudio(code: string | null): void {
  applyAppearance();
  const root = createRoot(document.getElementById("studio")!);
  const show = () => {
    root.render(
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>,
    );
    followEvents((event) => {
      applyEvent(event);
      if (event.name === "run") void giveNotice(event.data, openRun).catch(noteProblem);
    });
    const { role } = currentAccess();
    if (role === "reader" || role === "reviewer") lookAgain();
    void keepPage();
    listenForKeys({ go, palette: () => openDialog("find"), list: () => openDialog("keys"), copyLink });
  };
  /** Until there is a session there is nothing to show but the way to one. */
  const askForKey = (thrown: unknown) => {
    root.render(<KeyScreen thrown={thrown} />);
    const stop = onSession(() => {
      if (currentSession() === null) return;
      stop();
      show();
    });
  };
  enter(code).then((thrown) => (currentSession() === null ? askForKey(thrown) : show()), askForKey);
}

/** What happens is told to the owner alone; others of a team look again while the page is in front of them. */
function lookAgain(): void {
  setInterval(() => {
    if (document.visibilityState === "visible") applyEvent({ name: "reset", data: {} });
  }, LOOK_MS);
}

const LOOK_MS = 15_000;

async function enter(code: string | null): Promise<unknown> {
  if (code === null) {
    await askOtherTabs();
    if (currentSession() === null) forgetAnswers();
    return null;
  }
  try {
    // Whatever this tab had is over: the link is for a session of its own.
    dropSession(false);
    await openSession({ code });
    return null;
  } catch (thrown) {
    return thrown;
  }
}

/** The page itself is kept for when the server is away, once nothing else is being loaded. */
async function keepPage(): Promise<void> {
  const { serviceWorker } = navigator as { readonly serviceWorker?: ServiceWorkerContainer };
  if (serviceWorker === undefined || !import.meta.env.PROD) return;
  await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
  // A browser that keeps nothing says so; everything else is the same.
  await serviceWorker.register(scriptUrl("/sw.js") as string).catch(noteProblem);
}

const AFTER_MS = 3000;

function go(letter: string): boolean {
  const place = PLACES.find((one) => one.letter === letter);
  if (place === undefined) return false;
  void router.navigate({ to: place.to });
  return true;
}

function openRun(run: string): void {
  void router.navigate({ to: "/runs/$run/review", params: { run } });
}

/** A notice that could not be given is said here, where whoever looks for it will look. */
function noteProblem(thrown: unknown): void {
  console.warn(thrown);
}

function openDialog(name: "find" | "keys"): void {
  void router.navigate({
    to: ".",
    search: (old: object) => ({ ...old, do: name }),
    resetScroll: false,
    state: { opened: true } as object,
  });
}

/** The address without a dialog; there is never a key in it. */
function copyLink(): void {
  const url = new URL(location.href);
  url.searchParams.delete("do");
  url.hash = "";
  void copyText(url.href).then(() => announce(words.announced.linkCopied));
}
