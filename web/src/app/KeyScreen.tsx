import { type FormEvent, type ReactNode, useState } from "react";
import { openSession } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { Button } from "../parts/Button.tsx";
import { Failure } from "../parts/Failure.tsx";
import { PlainHttp } from "../parts/PlainHttp.tsx";
import { words } from "../words/words.ts";
import styles from "./KeyScreen.module.css";

const LINK = /#k=([0-9a-f]{32})$/;
const TOKEN = /^[\x21-\x7e]{16,512}$/;

/** What was typed as a key: a token, or a whole link. What can be neither is not sent: the server counts wrong ones. */
function readKey(
  typed: string,
): { readonly code: string } | { readonly token: string } | keyof typeof words.key.mistakes {
  const text = typed.trim();
  const code = LINK.exec(text)?.[1];
  if (code !== undefined) return { code };
  if (text === "") return "empty";
  return TOKEN.test(text) ? { token: text } : "shape";
}

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
  const [mistake, setMistake] = useState<keyof typeof words.key.mistakes | null>(null);
  const open = async (event: FormEvent) => {
    event.preventDefault();
    const key = readKey(token);
    setMistake(typeof key === "string" ? key : null);
    if (typeof key === "string") return;
    setProblem(null);
    try {
      await openSession(key);
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
            aria-invalid={mistake !== null}
            aria-describedby="key-empty"
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <p id="key-empty" className={styles["empty"]} role="alert">
          {mistake === null ? "" : words.key.mistakes[mistake]}
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
