import { Component, type ReactNode } from "react";
import { Refused, Unreachable } from "../api/client.ts";
import { words } from "../words/words.ts";
import { Button } from "./Button.tsx";
import { CopyButton } from "./Copy.tsx";
import styles from "./Failure.module.css";
import { Foreign } from "./Foreign.tsx";

/** What went wrong, where, what to do: in the words of the server, in that order. */
export function Failure({ thrown, again }: { readonly thrown: unknown; readonly again?: () => void }): ReactNode {
  const refused = thrown instanceof Refused ? thrown : null;
  const [says, fix] = sayFailure(thrown);
  return (
    <div className={styles["failure"]} role="alert">
      <p className={styles["says"]}>
        <Foreign text={says} />
      </p>
      {refused?.where ? (
        <p>
          <code>
            <Foreign text={refused.where} />
          </code>
        </p>
      ) : null}
      <p>
        <Foreign text={fix} />
      </p>
      <p className={styles["acts"]}>
        {again === undefined ? null : <Button onPress={again}>{words.failure.again}</Button>}
        {refused === null ? null : (
          <CopyButton text={refused.code} label={words.failure.code(refused.code)}>
            {refused.code}
          </CopyButton>
        )}
      </p>
    </div>
  );
}

function sayFailure(thrown: unknown): readonly [says: string, fix: string] {
  if (thrown instanceof Refused) return [thrown.status === 403 ? words.failure.notAllowed : thrown.message, thrown.fix];
  if (thrown instanceof Unreachable) return [words.failure.unreachable, words.failure.unreachableFix];
  return [words.failure.broken, words.failure.brokenFix];
}

/** A part that fails says so and leaves the rest of the page alone. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly thrown: unknown }> {
  override state: { readonly thrown: unknown } = { thrown: null };

  static getDerivedStateFromError(thrown: unknown): { readonly thrown: unknown } {
    return { thrown };
  }

  override render(): ReactNode {
    if (this.state.thrown === null) return this.props.children;
    return <Failure thrown={this.state.thrown} again={() => this.setState({ thrown: null })} />;
  }
}
