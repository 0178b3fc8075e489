import { Check, FileDiff, FileMinus, FilePlus, Link2, type LucideIcon, Package, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { Foreign, plainText } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import type { DiffFile } from "./diff/model.ts";
import styles from "./FileTree.module.css";

interface Props {
  readonly files: readonly DiffFile[];
  readonly current: string | undefined;
  readonly viewed: ReadonlySet<string>;
  readonly choose: (path: string) => void;
}

/** The files of a change by folder; on a narrow screen one field to pick from. */
export function FileTree({ files, current, viewed, choose }: Props): ReactNode {
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
                <li key={file.path}>
                  <Entry
                    file={file}
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
  readonly choose: (path: string) => void;
}): ReactNode {
  const { file, isCurrent, isViewed, choose } = props;
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
