import { type ReactNode, useEffect, useRef } from "react";
import { Heading, Modal, ModalOverlay, Dialog as Panel } from "react-aria-components";
import { useIsLost } from "../app/use-connection.ts";
import { words } from "../words/words.ts";
import { Button } from "./Button.tsx";
import styles from "./Dialog.module.css";

interface Props {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
  /** The one act; absent where there is nothing to do yet. */
  readonly act?: { readonly label: string; readonly run: () => void; readonly kind?: "primary" | "danger" } | undefined;
  readonly more?: ReactNode;
  /** As high as the page, at its side: something to read beside it. */
  readonly sheet?: boolean;
  /** While the act is under way the dialog stays. */
  readonly busy?: boolean;
}

/** A question with its consequence in words, and the act that it is about. Control and Enter confirm, Escape closes. */
export function Dialog({ title, close, children, act, more, busy = false, sheet = false }: Props): ReactNode {
  const isLost = useIsLost();
  const inside = useRef<HTMLDivElement>(null);
  // A button that can no longer be pressed loses the focus, and keys outside of a dialog do not close it.
  useEffect(() => {
    if ((isLost || busy) && !inside.current?.contains(document.activeElement)) inside.current?.focus();
  }, [isLost, busy]);
  const confirm = () => {
    if (!busy && !isLost) act?.run();
  };
  return (
    <ModalOverlay
      className={`${styles["overlay"]} ${sheet ? styles["beside"] : ""}`}
      isOpen
      isDismissable={!busy}
      isKeyboardDismissDisabled={busy}
      onOpenChange={(open) => {
        if (!open) close();
      }}
    >
      <Modal className={styles["modal"]!}>
        <Panel className={styles["panel"]!} data-dialog>
          {/* Keys of the whole dialog, wherever the focus is in it. */}
          <div
            ref={inside}
            tabIndex={-1}
            className={styles["inside"]}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                confirm();
              }
            }}
          >
            <Heading slot="title" className={styles["title"]!}>
              {title}
            </Heading>
            <div className={styles["body"]}>{children}</div>
            {isLost && act !== undefined ? <p className={styles["why"]}>{words.connection.lostAct}</p> : null}
            <div className={styles["acts"]}>
              {more}
              <Button onPress={close}>
                {busy ? words.acts.stop : act === undefined ? words.acts.close : words.acts.cancel}
              </Button>
              {act === undefined ? null : (
                <Button kind={act.kind ?? "primary"} isDisabled={busy || isLost} onPress={confirm} autoFocus>
                  {act.label}
                </Button>
              )}
            </div>
          </div>
        </Panel>
      </Modal>
    </ModalOverlay>
  );
}
