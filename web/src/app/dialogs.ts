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
        state: { opened: true } as object,
      });
    },
    [navigate],
  );
  const close = useCallback(() => {
    const { state } = router.history.location;
    if ((state as { opened?: boolean }).opened === true) router.history.back();
    else
      void navigate({
        to: ".",
        search: ({ do: _, ...rest }: { do?: DialogName | undefined }) => rest,
        replace: true,
        resetScroll: false,
      });
  }, [navigate, router]);
  return { shown, open, close };
}
