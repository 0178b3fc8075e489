import {
  Check,
  FileDiff,
  FileMinus,
  FilePlus,
  Link2,
  type LucideIcon,
  MessageSquare,
  Package,
  TriangleAlert,
} from "lucide-react";
import type { ReactNode } from "react";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { partsOf, takenOf } from "./choice.ts";
import type { Comment } from "./comments/place.ts";
import type { DiffFile } from "./diff/model.ts";
import styles from "./FileTree.module.css";
import { TakeBox } from "./TakeBox.tsx";

interface Props {
  readonly files: readonly DiffFile[];
  readonly current: string | undefined;
  readonly viewed: ReadonlySet<string>;
  readonly comments: readonly Comment[];
  /** Parts that were left out; null: there is nothing to choose. */
  readonly dropped: ReadonlySet<string> | null;
  readonly choose: (path: string) => void;
  readonly take: (parts: readonly string[]) => void;
}

/** The files of a change by folder; on a narrow screen one field to pick from. */
export function FileTree(props: Props): ReactNode {
  const { files, current, viewed, comments, dropped, choose, take } = props;
  const saidOf = (path: string) => comments.filter(({ at }) => at.path === path).length;
  return (
    <nav className={styles["tree"]} aria-label={words.run.tree} data-region tabIndex={-1}>
      <select
        className={styles["select"]}
        aria-label={words.run.tree}
        value={current}
        onChange={(event) => choose(event.target.value)}
      >
        {files.map(({ path }) => (
          <option key={path} value={path}>
            {plainText(path, 120)}
          </option>
        ))}
      </select>
      <div className={styles["list"]}>
        {byFolder(files).map(({ folder, inside }) => (
          <section key={folder} aria-label={folder === "" ? words.run.tree : plainText(folder, 120)}>
            {folder === "" ? null : (
              <p className={styles["folder"]}>
                <Foreign text={folder} />
              </p>
            )}
            <ul>
              {inside.map((file) => (
                <li key={file.path} className={styles["entry"]}>
                  {dropped === null ? null : (
                    <TakeBox
                      label={words.choice.takeListed(plainText(file.path, 200))}
                      taken={takenOf(file, dropped)}
                      toggle={() => take(partsOf(file))}
                    />
                  )}
                  <Entry
                    file={file}
                    said={saidOf(file.path)}
                    isCurrent={file.path === current}
                    isViewed={viewed.has(file.path)}
                    choose={choose}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}

function Entry(props: {
  readonly file: DiffFile;
  readonly isCurrent: boolean;
  readonly isViewed: boolean;
  readonly said: number;
  readonly choose: (path: string) => void;
}): ReactNode {
  const { file, isCurrent, isViewed, said, choose } = props;
  const Icon = iconOf(file);
  return (
    <button
      type="button"
      className={styles["file"]}
      aria-current={isCurrent}
      title={plainText(file.path, 400)}
      onClick={() => choose(file.path)}
    >
      <Icon
        size={16}
        strokeWidth={1.75}
        aria-label={words.run.operation[file.operation]}
        data-operation={file.operation}
      />
      <span className={styles["name"]}>
        <Foreign text={file.path.slice(file.path.lastIndexOf("/") + 1)} />
      </span>
      {file.findings.length === 0 ? null : (
        <TriangleAlert className={styles["mark"]} size={14} aria-label={plainText(file.findings[0]!.says, 120)} />
      )}
      {said === 0 ? null : (
        <span className={styles["said"]} title={words.comments.count(said)}>
          <MessageSquare size={14} aria-label={words.comments.count(said)} />
        </span>
      )}
      {isViewed ? <Check size={14} aria-label={words.run.viewed} /> : null}
      <span className={styles["size"]}>
        {file.kind === "text" ? words.plusMinus(file.added, file.deleted) : words.run.kinds[file.kind]}
      </span>
    </button>
  );
}

function iconOf({ operation, kind }: DiffFile): LucideIcon {
  if (operation === "create") return FilePlus;
  if (operation === "delete") return FileMinus;
  if (kind === "link") return Link2;
  return kind === "binary" ? Package : FileDiff;
}

/** In the order of the change, which is the order of the diff. */
function byFolder(files: readonly DiffFile[]): { readonly folder: string; readonly inside: DiffFile[] }[] {
  const groups: { readonly folder: string; readonly inside: DiffFile[] }[] = [];
  for (const file of files) {
    const folder = file.path.slice(0, Math.max(file.path.lastIndexOf("/"), 0));
    const last = groups.at(-1);
    if (last?.folder === folder) last.inside.push(file);
    else groups.push({ folder, inside: [file] });
  }
  return groups;
}
