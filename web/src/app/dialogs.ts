import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { DialogName } from "./router.tsx";

/** The open dialog is part of the address: opening it is a step forward, and Back closes it. */
export function useDialog(): {
  readonly shown: DialogName | undefined;
  readonly open: (name: DialogName) => void;
  readonly close: () => void;
} {
  const shown = useSearch({ strict: false, select: (search: { do?: DialogName | undefined }) => search.do });
  const navigate = useNavigate();
  const router = useRouter();
  const open = useCallback(
    (name: DialogName) => {
      void navigate({
        to: ".",
        search: (old: object) => ({ ...old, do: name }),
        resetScroll: false,
        // A question that is answered but still in the address gives its place to the next: Back leads to the page.
        replace: asked(router) !== null,
        state: { opened: true } as object,
      });
    },
    [navigate, router],
  );
  const close = useCallback(() => {
    // An act that ends late closes its own question, never the one that somebody has asked since.
    if (isLeaving || asked(router) !== (shown ?? null)) return;
    if ((router.history.location.state as { opened?: boolean }).opened === true) leave(router);
    else
      void navigate({
        to: ".",
        search: ({ do: _, ...rest }: { do?: DialogName | undefined }) => rest,
        replace: true,
        resetScroll: false,
      });
  }, [navigate, router, shown]);
  return { shown, open, close };
}

type Router = ReturnType<typeof useRouter>;

/** The question in the address as it is at this moment, not as it was last drawn. */
function asked(router: Router): string | null {
  return new URLSearchParams(router.history.location.search).get("do");
}

/** A step back takes a moment; asked for twice it would leave the page too. */
let isLeaving = false;

function leave(router: Router): void {
  isLeaving = true;
  const forget = router.history.subscribe(() => {
    isLeaving = false;
    forget();
  });
  router.history.back();
}
