import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Output } from "../../api/client.ts";
import { keepPreviousData, reading } from "../../api/queries.ts";
import { useActs } from "../../app/acts.ts";
import { Page } from "../../app/Page.tsx";
import { Button } from "../../parts/Button.tsx";
import { CopyButton } from "../../parts/Copy.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { boxed, Foreign } from "../../parts/Foreign.tsx";
import { Mark } from "../../parts/Mark.tsx";
import { Shown } from "../../parts/Shown.tsx";
import { sha256 } from "../../parts/sha256.ts";
import { formatBytes } from "../../words/formats.ts";
import { words } from "../../words/words.ts";
import { ContextLinks } from "./ContextLinks.tsx";
import { addToPack, hasItem, usePack } from "./pack.ts";
import styles from "./SectionScreen.module.css";

type Section = Output<"context.section-show">;
type Preview = Output<"context.preview">;
const said = words.context.section;
const route = getRouteApi("/context/sections/$section");
const WAIT_MS = 300;

/** One section: where it is, and the exact bytes of any slice of it. */
export function SectionScreen(): ReactNode {
  const { section } = route.useParams();
  const query = useQuery({ ...reading("context.section-show", { section_id: section }), retry: false });
  const title = query.data === undefined ? said.title : (query.data.heading_path.at(-1) ?? query.data.file_path);
  return (
    <Page title={title} shown={<Foreign text={title} />} aside={<ContextLinks />}>
      <Shown query={query} lines={6}>
        {(found: Section) => (
          <>
            <Place section={found} />
            <Slice section={found} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Place({ section }: { readonly section: Section }): ReactNode {
  return (
    <div className={styles["place"]}>
      <p>
        <Link to="/context" search={{ path: section.file_path }}>
          <Foreign text={section.file_path} />
        </Link>
        {section.heading_path.length === 0 ? null : (
          <>
            {" # "}
            <Foreign text={section.heading_path.join(" / ")} />
          </>
        )}
      </p>
      <p className={styles["plain"]}>
        {said.lines(section.line_start + 1, section.line_end)}
        {section.symbols.length === 0 ? null : (
          <>
            {" · "}
            {said.own} <Foreign text={section.symbols.join(", ")} />
          </>
        )}
      </p>
      <p className={styles["hash"]}>
        <code>{section.section_id}</code>
        <CopyButton text={section.section_id} label={words.copy.hash(said.title)} />
      </p>
    </div>
  );
}

function Slice({ section }: { readonly section: Section }): ReactNode {
  const { slice } = route.useSearch();
  const navigate = route.useNavigate();
  const pack = usePack();
  const asked = slice ?? `lines[0:${Math.max(1, Math.min(40, section.line_end - section.line_start))}]`;
  const [typed, setTyped] = useState(asked);
  const [hasMarks, setMarks] = useState(false);
  useEffect(() => setTyped(asked), [asked]);
  // What is typed is tried when the typing rests.
  useEffect(() => {
    if (typed === asked || typed.trim() === "") return;
    const timer = setTimeout(
      () => void navigate({ search: (old) => ({ ...old, slice: typed }), replace: true }),
      WAIT_MS,
    );
    return () => clearTimeout(timer);
  }, [typed, asked, navigate]);
  const query = useQuery({
    ...reading("context.preview", { section: section.section_id, slice: asked }),
    retry: false,
    placeholderData: keepPreviousData,
  });
  const item = { ref: section.section_id, slice: asked };
  const isIn = hasItem(pack, item);
  useActs(isIn ? [] : [{ key: "+", label: said.add, run: () => addToPack(item) }]);
  return (
    <section className={styles["slice"]} aria-label={said.preview}>
      <div className={styles["bar"]}>
        <label>
          {said.slice}
          <input
            value={typed}
            maxLength={500}
            spellCheck={false}
            aria-invalid={query.error !== null}
            aria-describedby="slice-how"
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        {isIn ? (
          <span className={styles["plain"]}>{said.added}</span>
        ) : (
          <Button isDisabled={query.error !== null} onPress={() => addToPack(item)}>
            <Plus size={16} strokeWidth={1.75} aria-hidden />
            {said.add}
          </Button>
        )}
        <label className={styles["check"]}>
          <input type="checkbox" checked={hasMarks} onChange={({ target }) => setMarks(target.checked)} />
          {said.marks}
        </label>
      </div>
      <p id="slice-how" className={styles["plain"]}>
        {said.sliceHow}
      </p>
      {query.error === null ? null : <Failure thrown={query.error} />}
      {query.data === undefined || query.error !== null ? null : <Bytes preview={query.data} hasMarks={hasMarks} />}
    </section>
  );
}

function Bytes({ preview, hasMarks }: { readonly preview: Preview; readonly hasMarks: boolean }): ReactNode {
  const { text, bytes, sha256: claimed } = preview;
  const { data: computed } = useQuery({
    queryKey: ["hash of text", text],
    queryFn: async () => ({ hash: await sha256(new TextEncoder().encode(text)) }),
  });
  const isSame = computed?.hash === claimed;
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  const first = preview.section.line_start + firstLine(preview.slice) + 1;
  return (
    <>
      <p className={styles["checked"]} data-testid="slice-checked">
        {computed === undefined ? null : computed.hash === null ? (
          words.run.noHash
        ) : (
          <>
            <Mark mark={isSame ? "good" : "bad"} />
            <strong>{isSame ? said.same : said.other(computed.hash)}</strong>
          </>
        )}
        <span className={styles["plain"]}>{formatBytes(bytes)}</span>
        <code className={styles["short"]} title={claimed}>
          {claimed}
        </code>
        <CopyButton text={claimed} label={words.copy.hash(said.hash)} />
      </p>
      <pre className={styles["text"]} tabIndex={0} data-testid="slice-text">
        {lines.map((line, n) => (
          <span
            key={String(n)}
            className={styles["line"]}
            data-line={/^lines/.test(preview.slice) ? first + n : undefined}
          >
            <bdi>{hasMarks ? boxed(line) : <Foreign text={line} />}</bdi>
            {hasMarks && (n < lines.length - 1 || text.endsWith("\n")) ? (
              <span className={styles["end"]}>↵</span>
            ) : null}
            {"\n"}
          </span>
        ))}
      </pre>
      <p className={styles["plain"]}>{said.previewWhy}</p>
    </>
  );
}

/** Where a slice of lines begins; other slices have no numbers. */
function firstLine(slice: string): number {
  return Number(/^lines\[(\d+):/.exec(slice)?.[1] ?? "0");
}
