import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { DialogName } from "./router.tsx";

/** The open dialog is part of the address: opening it is a step forward, and Back closes it. */
export function useDialog(): {
  readonly shown: DialogName | undefined;
  /** With what else the address says of it. */
  readonly open: (name: DialogName, more?: object) => void;
  /** Closes it; what comes after it is done on the page below, when the address is that of the page again. */
  readonly close: (after?: () => void) => void;
} {
  const shown = useSearch({ strict: false, select: (search: { do?: DialogName | undefined }) => search.do });
  const navigate = useNavigate();
  const router = useRouter();
  const open = useCallback(
    (name: DialogName, more: object = {}) => {
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, ...more, do: name }),
        resetScroll: false,
        // A question that is answered but still in the address gives its place to the next: Back leads to the page.
        replace: asked(router) !== null,
        state: { opened: true } as object,
      });
    },
    [navigate, router],
  );
  const close = useCallback(
    (after: () => void = () => undefined) => {
      // An act that ends late closes its own question, never the one that somebody has asked since.
      if (isLeaving || asked(router) !== (shown ?? null)) return;
      if ((router.history.location.state as { opened?: boolean }).opened === true) leave(router, after);
      else
        void navigate({
          to: ".",
          search: ({ do: _, ...rest }: { do?: DialogName | undefined }) => rest,
          replace: true,
          resetScroll: false,
        }).then(after);
    },
    [navigate, router, shown],
  );
  return { shown, open, close };
}

type Router = ReturnType<typeof useRouter>;

/** The question in the address as it is at this moment, not as it was last drawn. */
function asked(router: Router): string | null {
  return new URLSearchParams(router.history.location.search).get("do");
}

/** A step back takes a moment; asked for twice it would leave the page too. */
let isLeaving = false;

function leave(router: Router, after: () => void): void {
  isLeaving = true;
  const forget = router.history.subscribe(() => {
    isLeaving = false;
    forget();
    // Whoever hears of the step now must not be overtaken by the next.
    queueMicrotask(after);
  });
  router.history.back();
}
