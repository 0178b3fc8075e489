import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Navigate, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { askBytes } from "../../api/client.ts";
import { reading } from "../../api/queries.ts";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { saveBytes } from "../../parts/save-bytes.ts";
import { sha256 } from "../../parts/sha256.ts";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./RecordPart.module.css";
import { useRun } from "./use-run.ts";

const said = words.record;
const fileRoute = getRouteApi("/runs/$run/files/$");
/** As much of a file as is drawn at once; its hash is that of everything. */
const MOST_SHOWN = 200_000;

/** What a run has left behind, file by file. */
export function RecordPart(): ReactNode {
  const run = useParams({ strict: false, select: (params: { run?: string }) => params.run ?? "" });
  const query = useQuery(reading("agent.artifacts", { run }));
  return (
    <section className={styles["record"]} aria-label={said.title}>
      <h2>{said.title}</h2>
      <Shown query={query} lines={6}>
        {({ files }) =>
          files.length === 0 ? (
            <p className={styles["plain"]}>{said.none}</p>
          ) : (
            <ul className={styles["files"]}>
              {files.map(({ path, bytes }) => (
                <li key={path}>
                  <Link to="/runs/$run/files/$" params={{ run, _splat: path }}>
                    <code>
                      <Foreign text={path} />
                    </code>
                  </Link>
                  <span className={styles["plain"]}>{formatBytes(bytes)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

/** One file of the record as a document. An address that ends before a name is that of all of them. */
export function RecordFile(): ReactNode {
  const { _splat: path = "" } = fileRoute.useParams();
  return path === "" ? <RecordPart /> : <OneFile path={path} />;
}

/** A file of the change is shown in the change. */
function OneFile({ path }: { readonly path: string }): ReactNode {
  const { run } = fileRoute.useParams();
  const { line } = fileRoute.useSearch();
  const report = useRun().data;
  const query = useQuery(reading("agent.artifacts", { run }));
  if (report === undefined) return null;
  const isChanged = report.summary.changes.files.some((file) => file.path === path);
  const ofChange = { file: path, ...(line === undefined ? {} : { line }) };
  return (
    <Shown query={query} lines={6}>
      {({ files }) => {
        const isKept = files.some((file) => file.path === path);
        if (isChanged && (line !== undefined || !isKept))
          return <Navigate to="/runs/$run/review" params={{ run }} search={ofChange} replace />;
        return (
          <article className={styles["record"]}>
            <p>
              <Link to="/runs/$run/files" params={{ run }}>
                {said.all}
              </Link>
            </p>
            <h2>
              <code>
                <Foreign text={path} />
              </code>
            </h2>
            {isKept ? <Kept key={path} path={path} run={run} /> : <p className={styles["plain"]}>{said.absent}</p>}
          </article>
        );
      }}
    </Shown>
  );
}

/** Its bytes from where the address says, and the hash of all of them. */
function Kept({ path, run }: { readonly path: string; readonly run: string }): ReactNode {
  const { byte: at = 0 } = fileRoute.useSearch();
  const address = `/runs/${encodeURIComponent(run)}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
  const query = useQuery({
    queryKey: ["record", address],
    queryFn: async ({ signal }) => {
      const bytes = new Uint8Array(await (await askBytes(address, signal)).arrayBuffer());
      return { bytes, hash: await sha256(bytes) };
    },
  });
  return (
    <Shown query={query} lines={12}>
      {({ bytes, hash }) => {
        const from = Math.min(at, Math.max(0, bytes.length - 1));
        const to = Math.min(from + MOST_SHOWN, bytes.length);
        return (
          <>
            <p className={styles["facts"]}>
              <span>{formatBytes(bytes.length)}</span>
              {hash === null ? (
                <span className={styles["plain"]}>{words.run.noHash}</span>
              ) : (
                <>
                  <span className={styles["plain"]}>{said.hash}</span>
                  <code className={styles["hash"]}>{hash}</code>
                  <CopyButton text={hash} label={words.copy.hash(said.hash)} />
                </>
              )}
              <Button kind="quiet" onPress={() => saveBytes(bytes.slice().buffer, path.split("/").at(-1)!)}>
                {said.save}
              </Button>
            </p>
            {from === 0 && to === bytes.length ? null : (
              <Window run={run} path={path} from={from} to={to} of={bytes.length} />
            )}
            {bytes.length === 0 ? (
              <p className={styles["plain"]}>{said.empty}</p>
            ) : (
              <pre className={styles["text"]} tabIndex={0} aria-label={said.title}>
                <Foreign text={new TextDecoder().decode(bytes.subarray(from, to))} />
              </pre>
            )}
          </>
        );
      }}
    </Shown>
  );
}

/** Which part of a long file is shown, and the way to the parts around it. */
function Window(props: {
  readonly run: string;
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly of: number;
}): ReactNode {
  const { run, path, from, to, of } = props;
  const link = (at: number, says: string) => (
    <Link
      to="/runs/$run/files/$"
      params={{ run, _splat: path }}
      search={at <= 0 ? {} : { byte: at }}
      resetScroll={false}
    >
      {says}
    </Link>
  );
  return (
    <p className={styles["facts"]}>
      <span className={styles["plain"]}>{said.from(from, to, of)}</span>
      {from > 0 ? link(from - MOST_SHOWN, said.earlier) : null}
      {to < of ? link(to, said.later) : null}
    </p>
  );
}
