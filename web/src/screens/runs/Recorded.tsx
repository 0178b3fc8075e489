import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { askBytes } from "../../api/client.ts";
import { announce } from "../../app/announce.ts";
import { Button } from "../../parts/Button.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { Linked } from "./Linked.tsx";
import styles from "./Recorded.module.css";

/** The end of what was printed is what matters; the whole is one press away. */
const TAIL = 256 * 1024;
const LIVE_MS = 1000;
const READ_LINES = 20;
const NONE: readonly string[] = [];

export type RecordedName = "output" | "errors" | "verify" | "verify_errors";

/**
 * What a command printed, from the recorded file: escape sequences are left out, other controls are drawn as boxes. While the
 * run is at work it is looked at every second.
 */
export function Recorded(props: {
  readonly run: string;
  readonly of: RecordedName;
  readonly label: string;
  readonly live: boolean;
  /** Files of the change, which names in the text lead to. */
  readonly paths?: readonly string[];
}): ReactNode {
  const { run, of, label, live, paths = NONE } = props;
  const query = useQuery({
    queryKey: ["output", run, of],
    queryFn: ({ signal }) => readTail(run, of, signal),
    refetchInterval: live ? LIVE_MS : false,
    staleTime: live ? 0 : Number.POSITIVE_INFINITY,
  });
  const wasLive = useRef(live);
  useEffect(() => {
    if (wasLive.current && !live) void query.refetch();
    wasLive.current = live;
  });
  return (
    <section className={styles["recorded"]} aria-label={label}>
      <h2>{label}</h2>
      <Shown query={query}>
        {({ text, shown, size }) =>
          size === 0 ? (
            <p className={styles["plain"]}>{words.run.nothingPrinted}</p>
          ) : (
            <>
              {shown < size ? (
                <p className={styles["plain"]}>{words.run.cutOutput(formatBytes(shown), formatBytes(size))}</p>
              ) : null}
              <p className={styles["acts"]}>
                <Button kind="quiet" onPress={() => announce(lastLines(text))}>
                  {words.run.readLast}
                </Button>
              </p>
              <pre className={styles["text"]} role="log" aria-live="off" tabIndex={0} aria-label={label}>
                <bdi>
                  <Linked text={text} run={run} paths={paths} />
                </bdi>
              </pre>
            </>
          )
        }
      </Shown>
    </section>
  );
}

/** For whoever listens instead of looking. */
function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-READ_LINES).join("\n");
}

async function readTail(run: string, of: RecordedName, signal: AbortSignal) {
  const path = `/runs/${encodeURIComponent(run)}/output?of=${of}`;
  const first = await askBytes(path, signal);
  const size = Number(first.headers.get("verbatim-size") ?? "0");
  const isWhole = Number(first.headers.get("verbatim-next") ?? "0") >= size;
  const from = Math.max(0, size - TAIL);
  const bytes = await (isWhole ? first : await askBytes(`${path}&from=${from}`, signal)).arrayBuffer();
  return { text: withoutEscapes(new TextDecoder().decode(bytes)), shown: bytes.byteLength, size };
}

/** Colours, titles, clipboards and whatever else a terminal would obey; a line that was drawn over keeps its last form. */
export function withoutEscapes(text: string): string {
  return text
    .replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g, "")
    .replace(/\u001b[PX^_][\s\S]*?(?:\u001b\\|$)/g, "")
    .replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "")
    .replace(/\u001b[ -/]*[0-~]/g, "")
    .replace(/\r\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1).replace(/\r$/, ""))
    .join("\n");
}
