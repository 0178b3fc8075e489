import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { call, type Output } from "../../api/client.ts";
import { verifyHere } from "../../api/verifier.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Waiting } from "../../parts/Shown.tsx";
import { Clock } from "../../parts/When.tsx";
import { words } from "../../words/words.ts";
import styles from "./CheckpointsScreen.module.css";

type Checkpoint = Output<"ledger.checkpoints">["items"][number];

const { signed } = words.ledger;

/** Who signed the ledger at which size, and whether the ledger of today is that one grown. */
export function CheckpointsScreen(): ReactNode {
  const query = useInfiniteQuery({
    queryKey: ["ledger.checkpoints", {}],
    queryFn: ({ pageParam, signal }) =>
      call("ledger.checkpoints", pageParam === null ? {} : { before: pageParam }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={signed.title} aside={<Link to="/ledger">{words.ledger.title}</Link>}>
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.isPending ? <Waiting lines={4} /> : null}
      {query.data !== undefined && items.length === 0 ? (
        <div className={styles["none"]}>
          <p>{signed.none}</p>
          <p className={styles["command"]}>
            <code>{signed.command}</code>
            <CopyButton text={signed.command} label={words.copy.hash(words.run.command)} />
          </p>
        </div>
      ) : null}
      <ul className={styles["list"]}>
        {items.map((item) => (
          <li key={item.index}>
            <Item item={item} />
          </li>
        ))}
      </ul>
      {query.hasNextPage ? <Button onPress={() => void query.fetchNextPage()}>{words.run.unfold(50)}</Button> : null}
    </Page>
  );
}

function Item({ item }: { readonly item: Checkpoint }): ReactNode {
  return (
    <article className={styles["item"]}>
      <p className={styles["head"]}>
        <strong>{words.ledger.of(item.tree_size)}</strong>
        <span>
          {signed.signer} <Foreign text={item.signer ?? signed.key(item.key_id.slice(0, 12))} />
        </span>
        <Link to="/ledger/$index" params={{ index: String(item.index) }}>
          <Clock at={item.time} />
        </Link>
      </p>
      <p className={styles["root"]}>
        <span className={styles["plain"]}>{words.ledger.root}</span>
        <code>{item.root_hash}</code>
        <CopyButton text={item.root_hash} label={words.copy.hash(words.ledger.root)} />
      </p>
      <Against item={item} />
    </article>
  );
}

type Found = { readonly holds: boolean; readonly otherRoot: boolean; readonly size: number };

/** Asks for the proof and checks it here: the server's word is not taken for it. */
function Against({ item }: { readonly item: Checkpoint }): ReactNode {
  const [found, setFound] = useState<Found | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const check = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const proof = await call("ledger.prove-consistency", { from: item.tree_size });
      const holds = await verifyHere("consistency", { proof });
      setFound({ holds, otherRoot: proof.first_root !== item.root_hash, size: proof.second_size });
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  if (problem !== null) return <Failure thrown={problem} again={() => void check()} />;
  if (!globalThis.isSecureContext) return <p className={styles["plain"]}>{words.ledger.proof.unsafe}</p>;
  if (found === null)
    return (
      <Button isDisabled={isBusy} onPress={() => void check()}>
        {isBusy ? signed.checking : signed.check}
      </Button>
    );
  const isSound = found.holds && !found.otherRoot;
  return (
    <div className={styles["found"]}>
      <p className={styles["says"]} data-testid="checkpoint-found">
        <Mark mark={isSound ? "good" : "bad"} />
        {isSound ? signed.consistent : found.otherRoot ? signed.otherRoot : signed.inconsistent}
      </p>
      {isSound ? <Picture first={item.tree_size} second={found.size} /> : null}
    </div>
  );
}

/** Two trees: the smaller one lies shaded inside the larger. */
function Picture({ first, second }: { readonly first: number; readonly second: number }): ReactNode {
  const [wide, high] = [320, 96];
  const inner = Math.max(8, (first / second) * wide);
  const rise = Math.max(8, (Math.log2(first + 1) / Math.log2(second + 1)) * (high - 4));
  return (
    <figure className={styles["picture"]}>
      <svg viewBox={`0 0 ${wide} ${high}`} width={wide} height={high} aria-hidden>
        <polygon className={styles["outer"]} points={`1,${high - 1} ${wide / 2},2 ${wide - 1},${high - 1}`} />
        <polygon
          className={styles["inner"]}
          points={`1,${high - 1} ${inner / 2},${high - rise} ${inner},${high - 1}`}
        />
      </svg>
      <figcaption>{signed.picture(first, second)}</figcaption>
    </figure>
  );
}
