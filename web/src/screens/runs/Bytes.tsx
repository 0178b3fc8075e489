import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { askBytes } from "../../api/client.ts";
import { Foreign } from "../../parts/Foreign.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { sha256 } from "../../parts/sha256.ts";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import styles from "./Bytes.module.css";

/** As much as is drawn; the hash is that of everything. */
const MOST_SHOWN = 200_000;

/** The bytes of a file of the record, and whether their hash is the one that was claimed, computed here. */
export function Bytes(props: {
  readonly run: string;
  readonly file: string;
  readonly expected: string | null;
}): ReactNode {
  const { run, file, expected } = props;
  const path = `/runs/${encodeURIComponent(run)}/files/${file.split("/").map(encodeURIComponent).join("/")}`;
  const query = useQuery({
    queryKey: ["bytes", path, expected],
    queryFn: async ({ signal }) => {
      const bytes = new Uint8Array(await (await askBytes(path, signal)).arrayBuffer());
      const text = new TextDecoder().decode(bytes.subarray(0, MOST_SHOWN));
      return { text, size: bytes.length, hash: await sha256(bytes) };
    },
  });
  return (
    <Shown query={query}>
      {({ text, size, hash }) => (
        <div className={styles["bytes"]}>
          {expected === null ? null : (
            <p className={hash === null ? styles["plain"] : hash === expected ? styles["same"] : styles["other"]}>
              {hash === null ? words.run.noHash : hash === expected ? words.run.sameHash : words.run.otherHash(hash)}
            </p>
          )}
          {size > MOST_SHOWN ? <p className={styles["plain"]}>{words.run.cutBytes(formatBytes(MOST_SHOWN))}</p> : null}
          <pre tabIndex={0}>
            <Foreign text={text} />
          </pre>
        </div>
      )}
    </Shown>
  );
}
