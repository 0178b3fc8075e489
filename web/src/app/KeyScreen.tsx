import { type FormEvent, type ReactNode, useState } from "react";
import { openSession } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { Button } from "../parts/Button.tsx";
import { Failure } from "../parts/Failure.tsx";
import { PlainHttp } from "../parts/PlainHttp.tsx";
import { words } from "../words/words.ts";
import styles from "./KeyScreen.module.css";

/** Asks for the token, or for another link. Comes up over the page when a session ends. */
export function KeyScreen({
  again = false,
  thrown,
}: {
  readonly again?: boolean;
  readonly thrown?: unknown;
}): ReactNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<unknown>(thrown ?? null);
  const [isEmpty, setEmpty] = useState(false);
  const open = async (event: FormEvent) => {
    event.preventDefault();
    setEmpty(token.trim() === "");
    if (token.trim() === "") return;
    try {
      await openSession({ token: token.trim() });
      void queries.invalidateQueries();
    } catch (refused) {
      setProblem(refused);
    }
  };
  // An open dialog makes everything else inert and keeps the focus; a layer that says it is on top is left alone.
  return (
    <div
      className={again ? `${styles["screen"]} ${styles["over"]}` : styles["screen"]}
      data-dialog
      data-react-aria-top-layer="true"
    >
      <form className={styles["form"]} onSubmit={(event) => void open(event)} aria-labelledby="key-title">
        <h1 id="key-title">{words.key.title}</h1>
        <p>{again ? words.key.ended : words.key.why}</p>
        {problem === null ? null : <Failure thrown={problem} />}
        <p>{words.key.spent}</p>
        <PlainHttp />
        <label className={styles["field"]}>
          <span>{words.key.token}</span>
          <input
            type="password"
            autoComplete="off"
            value={token}
            aria-invalid={isEmpty}
            aria-describedby="key-empty"
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p id="key-empty" className={styles["empty"]} role="alert">
          {isEmpty ? words.key.empty : ""}
        </p>
        <p>
          <Button kind="primary" type="submit">
            {words.key.open}
          </Button>
        </p>
      </form>
    </div>
  );
}
