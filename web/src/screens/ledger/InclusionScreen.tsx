import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call, type Output } from "../../api/client.ts";
import { keepPreviousData, reading } from "../../api/queries.ts";
import { verifyHere } from "../../api/verifier.ts";
import { Page } from "../../app/Page.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import styles from "./InclusionScreen.module.css";

type Proof = Output<"ledger.prove">;
type Checkpoint = Output<"ledger.checkpoints">["items"][number];

const said = words.ledger.proof;
const route = getRouteApi("/ledger/proof/$hash");

/** The way from an entry to a root, one row a level, every row hashed in this page. */
export function InclusionScreen(): ReactNode {
  const { hash } = route.useParams();
  const { size } = route.useSearch();
  const query = useQuery({
    queryKey: ["ledger.prove", { entry: hash, size }],
    queryFn: async ({ signal }) => {
      const proof = await call("ledger.prove", { entry: hash, ...(size === undefined ? {} : { size }) }, signal);
      const way = globalThis.isSecureContext ? await verifyHere("inclusion", { proof }) : null;
      return { proof, way };
    },
    placeholderData: keepPreviousData,
  });
  const { data: signed } = useQuery(reading("ledger.checkpoints", { limit: 200 }));
  return (
    <Page title={said.title} aside={<Link to="/ledger">{words.ledger.title}</Link>}>
      <Shown query={query} lines={8}>
        {({ proof, way }) => (
          <>
            <p>
              {said.of(proof.index, proof.tree_size)}{" "}
              <Link to="/ledger/$index" params={{ index: String(proof.index) }}>
                {words.ledger.entry.title(proof.index)}
              </Link>
            </p>
            <Sizes proof={proof} signed={signed?.items ?? []} />
            {globalThis.isSecureContext ? null : <p>{said.unsafe}</p>}
            {way === null ? (
              globalThis.isSecureContext ? (
                <End isSound={false} text={said.noPath} />
              ) : null
            ) : (
              <Ladder way={way} proof={proof} signed={signed?.items ?? []} />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function Sizes({ proof, signed }: { readonly proof: Proof; readonly signed: readonly Checkpoint[] }): ReactNode {
  const navigate = route.useNavigate();
  const fitting = signed.filter(({ tree_size }) => tree_size > proof.index);
  return (
    <label className={styles["size"]}>
      {said.size}
      <input
        key={proof.tree_size}
        type="number"
        min={proof.index + 1}
        defaultValue={proof.tree_size}
        list="checkpoint-sizes"
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
        }}
        onBlur={({ currentTarget }) => {
          const size = Number(currentTarget.value);
          if (Number.isSafeInteger(size) && size > 0 && size !== proof.tree_size) void navigate({ search: { size } });
        }}
      />
      <datalist id="checkpoint-sizes">
        {fitting.map(({ tree_size, index }) => (
          <option key={index} value={tree_size} />
        ))}
      </datalist>
    </label>
  );
}

interface Way {
  readonly leaf: string;
  readonly rungs: readonly {
    readonly own: string;
    readonly sibling: string;
    readonly side: "left" | "right";
    readonly result: string;
  }[];
  readonly root: string;
}

function Ladder(props: {
  readonly way: Way;
  readonly proof: Proof;
  readonly signed: readonly Checkpoint[];
}): ReactNode {
  const { way, proof, signed } = props;
  const isRoot = way.root === proof.root_hash;
  const checkpoint = signed.find((one) => one.tree_size === proof.tree_size && one.root_hash === way.root);
  const rootSays =
    checkpoint === undefined
      ? said.isRoot
      : said.isCheckpoint(
          checkpoint.tree_size,
          checkpoint.signer ?? words.ledger.signed.key(checkpoint.key_id.slice(0, 12)),
        );
  return (
    <>
      <p className={styles["leaf"]}>
        <span>{said.leaf}</span>
        <code>{way.leaf}</code>
      </p>
      {way.rungs.length === 0 ? <p>{said.alone}</p> : null}
      <ol className={styles["ladder"]} aria-label={said.title}>
        {way.rungs.map(({ own, sibling, side, result }, level) => (
          <li key={result} className={styles["rung"]}>
            <span className={styles["level"]}>
              {said.level} {words.number(level + 1)}
            </span>
            <div className={styles["pair"]} data-side={side}>
              <span className={styles["own"]}>
                <small>{said.own}</small>
                <code title={own}>{own.slice(0, 16)}</code>
              </span>
              <span className={styles["sibling"]}>
                <small>
                  {said.sibling} {said.side[side]}
                </small>
                <code title={sibling}>{sibling.slice(0, 16)}</code>
              </span>
            </div>
            <span className={styles["result"]}>
              <small>{said.result}</small>
              <code title={result}>{level === way.rungs.length - 1 ? result : result.slice(0, 16)}</code>
            </span>
          </li>
        ))}
      </ol>
      <End isSound={isRoot} text={isRoot ? rootSays : said.isNot} root={way.root} />
      <p className={styles["plain"]}>{said.checked}</p>
    </>
  );
}

function End(props: { readonly isSound: boolean; readonly text: string; readonly root?: string }): ReactNode {
  return (
    <p className={styles["end"]} data-testid="inclusion-end" data-sound={props.isSound}>
      <Mark mark={props.isSound ? "good" : "bad"} />
      {props.root === undefined ? null : <code>{props.root}</code>}
      <strong>
        <Foreign text={props.text} />
      </strong>
    </p>
  );
}
