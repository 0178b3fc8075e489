import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { reading } from "../../api/queries.ts";
import { Button } from "../../parts/Button.tsx";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import styles from "./StartScreen.module.css";

const said = words.start;
const MOST_SHOWN = 100;
const MOST_PATHS = 200;

/** Paths that are typed or picked: what the index knows of the folder so far is offered. */
export function PathList(props: {
  readonly label: string;
  readonly paths: readonly string[];
  readonly change: (paths: readonly string[]) => void;
}): ReactNode {
  const { label, paths, change } = props;
  const id = useId();
  const [typed, setTyped] = useState("");
  const folder = typed.includes("/") ? typed.slice(0, typed.lastIndexOf("/")) : "";
  const known = useQuery({
    ...reading("context.tree", { prefix: folder, limit: MOST_SHOWN }),
    retry: false,
    staleTime: 60_000,
  });
  const add = () => {
    const path = typed.trim();
    if (path === "" || paths.length >= MOST_PATHS) return;
    if (!paths.includes(path)) change([...paths, path]);
    setTyped("");
  };
  return (
    <div className={styles["field"]}>
      <label htmlFor={id}>{label}</label>
      <div className={styles["adding"]}>
        <input
          id={id}
          value={typed}
          list={`${id}-known`}
          placeholder={said.path}
          spellCheck={false}
          autoComplete="off"
          maxLength={4096}
          onChange={({ target }) => setTyped(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            add();
          }}
        />
        <datalist id={`${id}-known`}>
          {(known.data?.items ?? []).map(({ path, kind }) => (
            <option key={path} value={kind === "folder" ? `${path}/` : path} />
          ))}
        </datalist>
        <Button isDisabled={typed.trim() === ""} onPress={add}>
          {said.addPath}
        </Button>
      </div>
      {paths.length === 0 ? null : (
        <ul className={styles["paths"]} aria-label={label}>
          {paths.map((path) => (
            <li key={path}>
              <code>
                <Foreign text={path} />
              </code>
              <Button
                kind="quiet"
                aria-label={said.removePath(plainText(path, 100))}
                onPress={() => change(paths.filter((one) => one !== path))}
              >
                <X size={16} strokeWidth={1.75} aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
