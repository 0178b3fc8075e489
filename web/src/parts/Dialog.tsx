import type { ReactNode } from "react";
import { Heading, Modal, ModalOverlay, Dialog as Panel } from "react-aria-components";
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
  /** While the act is under way the dialog stays. */
  readonly busy?: boolean;
}

/** A question with its consequence in words, and the act that it is about. Control and Enter confirm, Escape closes. */
export function Dialog({ title, close, children, act, more, busy = false }: Props): ReactNode {
  const confirm = () => {
    if (!busy) act?.run();
  };
  return (
    <ModalOverlay
      className={styles["overlay"]!}
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
            <div className={styles["acts"]}>
              {more}
              <Button onPress={close}>
                {busy ? words.acts.stop : act === undefined ? words.acts.close : words.acts.cancel}
              </Button>
              {act === undefined ? null : (
                <Button kind={act.kind ?? "primary"} isDisabled={busy} onPress={confirm} autoFocus>
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
