import { type ReactNode, useSyncExternalStore } from "react";
import { Dialog } from "../parts/Dialog.tsx";
import { words } from "../words/words.ts";
import { useOfferedActs } from "./acts.ts";
import { onAppearance, readAppearance } from "./appearance.ts";
import styles from "./KeyList.module.css";
import { PLACES } from "./places.ts";

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ["Ctrl K", words.keys.palette],
  [PLACES.map(({ letter }) => `g ${letter}`).join(", "), words.keys.go],
  ["/", words.keys.search],
  ["[ ]", words.keys.tab],
  ["y", words.keys.link],
  ["Esc", words.keys.close],
  ["Ctrl Enter", words.keys.confirm],
  ["F6", words.keys.region],
  ["?", words.keys.list],
];

/** Every key that does something now. */
export function KeyList({ close }: { readonly close: () => void }): ReactNode {
  const acts = useOfferedActs().filter(({ key }) => key !== undefined && key !== "/" && key !== "[" && key !== "]");
  const { letters } = useSyncExternalStore(onAppearance, readAppearance);
  return (
    <Dialog title={words.keys.title} close={close}>
      {letters ? null : <p>{words.keys.off}</p>}
      <div className={styles["lists"]}>
        <section>
          <h2>{words.keys.everywhere}</h2>
          <Keys keys={EVERYWHERE} />
        </section>
        {acts.length === 0 ? null : (
          <section>
            <h2>{words.keys.here}</h2>
            <Keys keys={acts.map(({ key, label }) => [key!, label])} />
          </section>
        )}
      </div>
    </Dialog>
  );
}

function Keys({ keys }: { readonly keys: readonly (readonly [string, string])[] }): ReactNode {
  return (
    <dl className={styles["keys"]}>
      {keys.map(([key, label]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{label}</dd>
        </div>
      ))}
    </dl>
  );
}
