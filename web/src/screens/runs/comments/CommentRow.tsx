import { MessageSquare } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../../../parts/Button.tsx";
import { Failure } from "../../../parts/Failure.tsx";
import { Foreign, plainText } from "../../../parts/Foreign.tsx";
import { Age } from "../../../parts/When.tsx";
import { words } from "../../../words/words.ts";
import styles from "./Comments.module.css";
import type { Comment, Place } from "./place.ts";

const said = words.comments;

export function sayPlace({ path, from, to }: Pick<Place, "path" | "from" | "to">): string {
  if (from === null) return said.onFile(plainText(path, 120));
  return to === null || to === from ? said.onLine(from) : said.onLines(from, to);
}

/** What somebody said about a place, below it. What was told to the agent stays as it is. */
export function CommentBox(props: {
  readonly comment: Comment;
  readonly withdraw: ((id: string) => Promise<void>) | null;
  /** With the place in words, where it does not stand beside it. */
  readonly apart?: boolean;
}): ReactNode {
  const { comment, withdraw, apart = false } = props;
  const { at, text, quote, actor, created_at, sent } = comment;
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const takeBack = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await withdraw?.(comment.id);
    } catch (thrown) {
      setProblem(thrown);
      setBusy(false);
    }
  };
  return (
    <article className={styles["comment"]} aria-label={sayPlace(at)}>
      <header>
        <MessageSquare size={16} strokeWidth={1.75} aria-hidden />
        {apart ? (
          <code className={styles["at"]}>
            <Foreign text={at.from === null ? at.path : `${at.path}:${at.from}`} />
          </code>
        ) : (
          <span className={styles["at"]}>{sayPlace(at)}</span>
        )}
        {at.side === "base" ? <span>{said.before}</span> : null}
        <span>
          <Foreign text={actor} />
        </span>
        <Age at={created_at} />
        <span className={styles["sent"]}>{sent.length === 0 ? said.unsent : said.sent(sent.join(", "))}</span>
        {withdraw === null || sent.length > 0 ? null : (
          <Button kind="quiet" isDisabled={isBusy} onPress={() => void takeBack()}>
            {said.withdraw}
          </Button>
        )}
      </header>
      {apart && quote.length > 0 ? (
        <pre className={styles["quote"]}>
          <Foreign text={quote.join("\n")} />
        </pre>
      ) : null}
      <p className={styles["text"]}>
        <Foreign text={text} />
      </p>
      {problem === null ? null : <Failure thrown={problem} />}
    </article>
  );
}
