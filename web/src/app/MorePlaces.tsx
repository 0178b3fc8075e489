import { useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Dialog } from "../parts/Dialog.tsx";
import { words } from "../words/words.ts";
import styles from "./MorePlaces.module.css";
import { listPlaces } from "./places.ts";

/** The places that the bar of a phone has no room for. */
export function MorePlaces({ close }: { readonly close: (after?: () => void) => void }): ReactNode {
  const router = useRouter();
  return (
    <Dialog title={words.places.more} close={close}>
      <ul className={styles["places"]}>
        {listPlaces()
          .filter(({ onPhone }) => !onPhone)
          .map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <button type="button" onClick={() => close(() => router.history.push(to))}>
                <Icon size={20} strokeWidth={1.75} aria-hidden />
                {label}
              </button>
            </li>
          ))}
      </ul>
    </Dialog>
  );
}
