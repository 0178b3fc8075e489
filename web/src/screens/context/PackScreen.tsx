import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { call, type Output } from "../../api/client.ts";
import { keepPreviousData } from "../../api/queries.ts";
import { Page } from "../../app/Page.tsx";
import { useIsLost } from "../../app/use-connection.ts";
import { useMay } from "../../app/use-role.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { ContextLinks } from "./ContextLinks.tsx";
import styles from "./PackScreen.module.css";
import { fromFragment, MOST_ITEMS, type PackItem, setPack, toFragment, usePack } from "./pack.ts";

type Priced = Output<"context.budget">;
type BudgetName = keyof Priced["used"];
const said = words.context.pack;
const NAMES = Object.keys(said.names) as BudgetName[];
/** The last change counts: whoever types is not asked about every letter. */
const WAIT_MS = 150;

/** What would be quoted, item by item, and what it uses of each budget. The address has all of it, behind a #. */
export function PackScreen(): ReactNode {
  const pack = usePack();
  const navigate = useNavigate();
  const { hash } = useLocation();
  const isRead = useRef(false);
  // The address first; from then on it follows the pack.
  useEffect(() => {
    if (isRead.current) return;
    isRead.current = true;
    if (hash !== "") setPack(fromFragment(hash));
  }, [hash]);
  const fragment = toFragment(pack);
  const written = useRef(fragment);
  useEffect(() => {
    // Only a change of the pack is written: whoever leaves has another address by now.
    if (written.current === fragment) return;
    written.current = fragment;
    void navigate({ to: "/context/pack", hash: fragment, replace: true, resetScroll: false });
  }, [fragment, navigate]);
  const asked = useRested(pack);
  const query = useQuery({
    queryKey: ["context.budget", asked],
    queryFn: ({ signal }) =>
      call(
        "context.budget",
        { items: asked.map(({ ref, slice }) => ({ ref, ...(slice === null ? {} : { slice }) })) },
        signal,
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Page title={said.title} aside={<ContextLinks />}>
      {pack.length === 0 ? <p>{said.none}</p> : null}
      {query.error === null ? null : <Failure thrown={query.error} again={() => void query.refetch()} />}
      {query.data === undefined ? null : <Budgets priced={query.data} />}
      <Items pack={pack} priced={asked === pack ? (query.data ?? null) : null} />
      {pack.length === 0 ? null : (
        <Make pack={pack} priced={asked === pack && !query.isPlaceholderData ? (query.data ?? null) : null} />
      )}
      <p className={styles["plain"]}>{said.link}</p>
    </Page>
  );
}

function useRested(pack: readonly PackItem[]): readonly PackItem[] {
  const [rested, setRested] = useState(pack);
  useEffect(() => {
    const timer = setTimeout(() => setRested(pack), WAIT_MS);
    return () => clearTimeout(timer);
  }, [pack]);
  return rested;
}

function Budgets({ priced }: { readonly priced: Priced }): ReactNode {
  return (
    <section className={styles["budgets"]} aria-label={said.budgets}>
      {NAMES.map((name) => {
        const [used, limit] = [priced.used[name], priced.limits[name]];
        const show = name === "max_bytes_expanded" ? formatBytes : words.number;
        return (
          <div key={name} data-over={used > limit} data-testid={`budget-${name}`}>
            <p>
              <span>{said.names[name]}</span> <strong>{said.of(show(used), show(limit))}</strong>
            </p>
            <span className={styles["bar"]} aria-hidden>
              <span style={{ width: `${Math.min(100, limit === 0 ? 100 : (used / limit) * 100)}%` }} />
            </span>
          </div>
        );
      })}
    </section>
  );
}

function Items({ pack, priced }: { readonly pack: readonly PackItem[]; readonly priced: Priced | null }): ReactNode {
  const change = (at: number, slice: string) =>
    setPack(pack.map((item, n) => (n === at ? { ...item, slice: slice === "" ? null : slice } : item)));
  if (pack.length === 0) return null;
  return (
    <>
      <ul className={styles["items"]}>
        {pack.map((item, n) => {
          const price = priced?.items[n];
          return (
            <li key={`${item.ref} ${n}`}>
              <code className={styles["ref"]} title={item.ref}>
                <Foreign text={item.ref} />
              </code>
              <input
                aria-label={said.slice(item.ref)}
                value={item.slice ?? ""}
                placeholder={price?.slice ?? ""}
                spellCheck={false}
                maxLength={500}
                aria-invalid={price?.problem != null}
                onChange={({ target }) => change(n, target.value)}
              />
              <span className={styles["bytes"]}>
                {price === undefined || price.problem !== null ? null : formatBytes(price.bytes)}
              </span>
              <Button
                kind="quiet"
                aria-label={said.remove(item.ref)}
                onPress={() => setPack(pack.filter((_, at) => at !== n))}
              >
                <X size={16} strokeWidth={1.75} aria-hidden />
              </Button>
              {price?.problem == null ? null : (
                <span className={styles["bad"]}>
                  <Foreign text={price.problem.message} />
                </span>
              )}
            </li>
          );
        })}
      </ul>
      <p>
        {pack.length >= MOST_ITEMS ? said.full(MOST_ITEMS) : null}
        <Button kind="quiet" onPress={() => setPack([])}>
          {said.empty}
        </Button>
      </p>
    </>
  );
}

type Made = Output<"context.expand">;

/** The pack itself: it quotes, so it is charged and leaves a receipt for every item. */
function Make({ pack, priced }: { readonly pack: readonly PackItem[]; readonly priced: Priced | null }): ReactNode {
  const isLost = useIsLost();
  const canMake = useMay("reviewer");
  const [isBusy, setBusy] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  // What was made is what the list says, or it is not shown.
  useEffect(() => setMade(null), [pack]);
  if (priced === null) return null;
  const over = NAMES.find((name) => priced.used[name] > priced.limits[name]);
  if (over !== undefined) return <p className={styles["bad"]}>{said.over(said.names[over])}</p>;
  if (priced.items.some((item) => item.problem !== null)) return <p className={styles["bad"]}>{said.broken}</p>;
  const make = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setMade(
        await call("context.expand", {
          refs: pack.map(({ ref, slice }) => (slice === null ? ref : `${ref} ${slice}`)),
        }),
      );
    } catch (thrown) {
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  const text = made?.expansions.map(({ content }) => content).join("\n") ?? "";
  return (
    <>
      {problem === null ? null : <Failure thrown={problem} />}
      {!canMake ? null : made === null ? (
        <p>
          <Button kind="primary" isDisabled={isBusy || isLost} onPress={() => void make()}>
            {isBusy ? said.making : said.make}
          </Button>
        </p>
      ) : (
        <section className={styles["made"]} aria-label={said.title} data-testid="pack-made">
          <p>
            <Foreign text={said.made(made.run_id)} />
            <CopyButton text={text} label={said.copy}>
              {said.copy}
            </CopyButton>
          </p>
          <pre tabIndex={0}>
            <Foreign text={text} />
          </pre>
        </section>
      )}
    </>
  );
}
