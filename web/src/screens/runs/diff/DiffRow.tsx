import { MessageSquarePlus } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import { Foreign, plainText } from "../../../parts/Foreign.tsx";
import { formatBytes } from "../../../words/formats.ts";
import { words } from "../../../words/words.ts";
import type { Range } from "../../../workers/highlight.ts";
import { partsOf } from "../choice.ts";
import { CommentBox, sayPlace } from "../comments/CommentRow.tsx";
import { Composer } from "../comments/Composer.tsx";
import { type Place, placeOf } from "../comments/place.ts";
import { TakeBox, type Taken } from "../TakeBox.tsx";
import styles from "./Diff.module.css";
import { DiffText } from "./DiffText.tsx";
import type { DiffFile, PlacedLine, Row } from "./model.ts";

/** Whoever draws rows says what a press on them does. */
export interface RowActs {
  readonly unfold: (file: DiffFile, from: number, to: number) => void;
  readonly toggleViewed: (path: string) => void;
  readonly openLarge: (path: string) => void;
  /** Takes or leaves parts of the change; null: there is nothing to choose. */
  readonly choose: ((parts: readonly string[]) => void) | null;
  /** What can be said about places of the change; null: nothing now. */
  readonly talk: Talk | null;
}

/** Comments and the field in which one is written. */
export interface Talk {
  readonly begin: (place: Place) => void;
  readonly withdraw: (id: string) => Promise<void>;
  readonly draft: () => string;
  readonly typed: (place: Place, text: string) => void;
  readonly save: (place: Place, text: string) => Promise<void>;
  readonly close: () => void;
}

const SIGNS = { context: " ", added: "+", deleted: "-" } as const;
const UNFOLD = 20;

/** One row of the change. Memoised: a colour that arrives draws its own line anew and no other. */
export const DiffRow = memo(function DiffRow(props: {
  readonly row: Row;
  readonly acts: RowActs;
  readonly isViewed: boolean;
  /** How much of the hunk, or of the file, is taken. */
  readonly taken: Taken;
  readonly isChosen: boolean;
  readonly leftColours: readonly Range[] | undefined;
  readonly rightColours: readonly Range[] | undefined;
}): ReactNode {
  const { row, acts } = props;
  switch (row.type) {
    case "file":
      return <FileHeader row={row} isViewed={props.isViewed} taken={props.taken} acts={acts} />;
    case "finding":
      return (
        <div role="gridcell" className={styles["finding"]}>
          {row.line === null ? null : <b>{words.number(row.line)}</b>} <Foreign text={row.says} />
        </div>
      );
    case "whole":
      return (
        <div role="gridcell" className={styles["whole"]}>
          <Foreign text={sayWhole(row.file)} />
        </div>
      );
    case "large":
      return (
        <div role="gridcell" className={styles["gap"]}>
          <button type="button" onClick={() => acts.openLarge(row.file.path)}>
            {words.run.large(row.lines)}
          </button>
        </div>
      );
    case "gap":
      return <Gap row={row} acts={acts} />;
    case "hunk":
      return (
        <div role="gridcell" className={styles["hunk"]}>
          {acts.choose === null ? null : (
            <TakeBox label={words.choice.take} taken={props.taken} toggle={() => acts.choose?.([row.hunk.id])} />
          )}
          <code
            className={styles["range"]}
          >{`@@ -${row.hunk.old_start},${row.hunk.old_lines} +${row.hunk.new_start},${row.hunk.new_lines} @@`}</code>
          {row.hunk.heading === null ? null : (
            <code className={styles["heading"]} title={plainText(row.hunk.heading, 200)}>
              <Foreign text={row.hunk.heading} />
            </code>
          )}
          <span className={styles["count"]}>{words.run.hunk(row.n, row.of)}</span>
          {row.onlySpace ? <span>{words.run.onlySpace}</span> : null}
          <SayHere row={row} talk={acts.talk} />
        </div>
      );
    case "line":
      return (
        <>
          <Line line={row.line} colours={props.rightColours} />
          {props.isChosen ? <SayHere row={row} talk={acts.talk} /> : null}
        </>
      );
    case "pair":
      return (
        <>
          <Half line={row.left} side="old" colours={props.leftColours} />
          <Half line={row.right} side="new" colours={props.rightColours} />
          {props.isChosen ? <SayHere row={row} talk={acts.talk} /> : null}
        </>
      );
    case "comment":
      return (
        <div role="gridcell" className={styles["said"]}>
          <CommentBox comment={row.comment} withdraw={acts.talk?.withdraw ?? null} />
        </div>
      );
    case "composer":
      return (
        <div role="gridcell" className={styles["said"]}>
          {acts.talk === null ? null : <Writing place={row.place} talk={acts.talk} />}
        </div>
      );
  }
});

function Writing({ place, talk }: { readonly place: Place; readonly talk: Talk }): ReactNode {
  const [text, setText] = useState(talk.draft);
  return (
    <Composer
      place={place}
      text={text}
      typed={(next) => {
        setText(next);
        talk.typed(place, next);
      }}
      save={(written) => talk.save(place, written)}
      close={talk.close}
    />
  );
}

/** Says something about a row, for whoever has no keys. */
function SayHere({ row, talk }: { readonly row: Row; readonly talk: Talk | null }): ReactNode {
  const place = talk === null ? null : placeOf(row);
  if (place === null) return null;
  return (
    <button
      type="button"
      className={row.type === "line" || row.type === "pair" ? styles["sayLine"] : styles["say"]}
      aria-label={sayPlace(place)}
      onClick={(event) => {
        event.stopPropagation();
        talk!.begin(place);
      }}
    >
      <MessageSquarePlus size={14} strokeWidth={1.75} aria-hidden />
      <span className={styles["sayWord"]}>{words.comments.comment}</span>
    </button>
  );
}

function FileHeader(props: {
  readonly row: Extract<Row, { type: "file" }>;
  readonly isViewed: boolean;
  readonly taken: Taken;
  readonly acts: RowActs;
}): ReactNode {
  const { isViewed, taken, acts, row } = props;
  const { file } = row;
  return (
    <div role="gridcell" className={styles["file"]}>
      {acts.choose === null ? null : (
        <TakeBox
          label={words.choice.takeFile(plainText(file.path, 200))}
          taken={taken}
          toggle={() => acts.choose?.(partsOf(file))}
        />
      )}
      <span className={styles["operation"]} data-operation={file.operation}>
        {words.run.operation[file.operation]}
      </span>
      <h2 className={styles["path"]}>
        <Foreign text={file.path} />
      </h2>
      <span className={styles["size"]}>
        {file.kind === "text" ? words.plusMinus(file.added, file.deleted) : words.run.kinds[file.kind]}
      </span>
      <SayHere row={row} talk={acts.talk} />
      <label className={styles["viewed"]}>
        <input type="checkbox" checked={isViewed} onChange={() => acts.toggleViewed(file.path)} />
        {words.run.viewed}
      </label>
    </div>
  );
}

function sayWhole({ kind, bytes, target, mode }: DiffFile): string {
  if (kind === "link") return words.run.link(target ?? "");
  if (kind === "mode") return words.run.mode(mode ?? "");
  return words.run.binary(formatBytes(bytes));
}

function Gap({ row, acts }: { readonly row: Extract<Row, { type: "gap" }>; readonly acts: RowActs }): ReactNode {
  const { from, to, file } = row;
  const first = Math.max(from, to - UNFOLD + 1);
  return (
    <div role="gridcell" className={styles["gap"]}>
      <button type="button" onClick={() => acts.unfold(file, first, to)}>
        {words.run.unfold(to - first + 1)}
      </button>
      <span>{`${words.number(from)} - ${words.number(to)}`}</span>
    </div>
  );
}

function Line({
  line,
  colours,
}: {
  readonly line: PlacedLine;
  readonly colours: readonly Range[] | undefined;
}): ReactNode {
  return (
    <>
      <span role="gridcell" className={styles["number"]} data-n={line.old ?? ""} />
      <span role="gridcell" className={styles["number"]} data-n={line.new ?? ""} />
      <span role="gridcell" className={styles["cell"]} data-kind={line.kind} data-sign={SIGNS[line.kind]}>
        <DiffText line={line} colours={colours} />
      </span>
    </>
  );
}

function Half(props: {
  readonly line: PlacedLine | null;
  readonly side: "old" | "new";
  readonly colours: readonly Range[] | undefined;
}): ReactNode {
  const { line, side, colours } = props;
  if (line === null) return <span role="gridcell" className={`${styles["half"]} ${styles["absent"]}`} />;
  const kind = line.kind;
  return (
    <span role="gridcell" className={styles["half"]} data-side={side}>
      <span className={styles["number"]} data-n={line[side] ?? ""} />
      <span className={styles["cell"]} data-kind={kind} data-sign={SIGNS[kind]}>
        <DiffText line={line} colours={colours} />
      </span>
    </span>
  );
}

/** What a screen reader says of a row. */
export function sayRow(row: Row): string | undefined {
  const line = row.type === "line" ? row.line : row.type === "pair" ? (row.right ?? row.left) : null;
  if (line === null) return undefined;
  if (line.kind === "added") return words.run.added(line.new ?? 0, line.text);
  if (line.kind === "deleted") return words.run.removed(line.old ?? 0, line.text);
  return words.run.same(line.new ?? 0, line.text);
}
