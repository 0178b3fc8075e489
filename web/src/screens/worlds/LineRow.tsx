import { CornerDownRight, EllipsisVertical } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { plainText } from "../../parts/Foreign.tsx";
import { words } from "../../words/words.ts";
import { Prose } from "./Prose.tsx";
import styles from "./Story.module.css";
import type { Told } from "./story-window.ts";

const said = words.worlds;

export type LineAct = keyof typeof said.acts;

/** One committed line, with a menu of what can be done with it. */
export const LineRow = memo(function LineRow(props: {
  readonly told: Told;
  readonly isFresh: boolean;
  readonly isTarget: boolean;
  readonly acts: readonly LineAct[];
  readonly run: (act: LineAct, told: Told) => void;
  readonly go: (entry: string) => void;
}): ReactNode {
  const { told, isFresh, isTarget, acts, run, go } = props;
  const { line, meta } = told;
  const { author_label: name, text, channel } = line;
  const corrected = meta.corrected_by.at(-1);
  return (
    <article
      className={styles["line"]}
      data-channel={channel}
      data-fresh={isFresh}
      data-target={isTarget}
      data-entry={line.entry_id}
      dir="auto"
    >
      {name === null ? null : (
        <h3 className={styles["name"]}>
          <Prose text={name} />
        </h3>
      )}
      <p
        className={styles["text"]}
        // Longer lines are read for longer.
        style={{ ["--reveal" as string]: `${Math.min(4000, 300 + text.length * 12)}ms` }}
      >
        <bdi>
          <Prose text={text} />
        </bdi>
      </p>
      {meta.corrects === null && corrected === undefined ? null : (
        <p className={styles["note"]} dir="ltr">
          <CornerDownRight size={14} strokeWidth={1.75} aria-hidden />
          {meta.corrects === null ? said.story.corrected : said.story.corrects}
          <button type="button" onClick={() => go(meta.corrects ?? corrected!)}>
            {said.story.goTo}
          </button>
        </p>
      )}
      <MenuTrigger>
        <Button
          className={styles["menuButton"]!}
          data-menu
          aria-label={name === null ? said.story.menuOfNobody : said.story.menuOf(plainText(name, 60))}
        >
          <EllipsisVertical size={18} strokeWidth={1.75} aria-hidden />
        </Button>
        <Popover className={styles["popover"]!} placement="bottom end">
          <Menu className={styles["menu"]!} onAction={(act) => run(act as LineAct, told)}>
            {acts.map((act) => (
              <MenuItem key={act} id={act} className={styles["item"]!}>
                {said.acts[act]}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </article>
  );
});
