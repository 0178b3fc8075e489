import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Output } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { words } from "../../words/words.ts";
import { ContextLinks } from "./ContextLinks.tsx";
import styles from "./PackScreen.module.css";
import { addToPack, hasItem, usePack } from "./pack.ts";

/** Every symbol, with what would keep it from being used now. */
export function SymbolsScreen(): ReactNode {
  const query = useQuery(reading("context.symbol-list", {}));
  const { data: status } = useQuery({ ...reading("context.index-status", {}), retry: false });
  const problems = new Map(status?.symbol_problems.map(({ symbol_id, message }) => [symbol_id, message]));
  const pack = usePack();
  return (
    <Page title={words.context.symbols} aside={<ContextLinks />}>
      <Shown query={query} lines={5}>
        {(symbols: Output<"context.symbol-list">) =>
          symbols.length === 0 ? (
            <p>{words.context.noSymbols}</p>
          ) : (
            <ul className={styles["items"]}>
              {symbols.map(({ symbol_id, target_ref, default_slice_policy }) => {
                const problem = problems.get(symbol_id);
                const item = { ref: symbol_id, slice: null };
                return (
                  <li key={symbol_id}>
                    <Mark mark={problem === undefined ? null : "bad"} />
                    <code className={styles["ref"]}>
                      <Foreign text={symbol_id} />
                    </code>
                    <span className={styles["plain"]}>
                      <Foreign text={`${target_ref} ${default_slice_policy}`} />
                    </span>
                    {problem === undefined ? null : (
                      <span className={styles["bad"]}>
                        <Foreign text={problem} />
                      </span>
                    )}
                    {hasItem(pack, item) ? (
                      <span className={styles["plain"]}>{words.context.section.added}</span>
                    ) : (
                      <Button kind="quiet" onPress={() => addToPack(item)}>
                        {words.context.section.add}
                      </Button>
                    )}
                  </li>
                );
              })}
            </ul>
          )
        }
      </Shown>
    </Page>
  );
}
