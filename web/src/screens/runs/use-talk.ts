import { useCallback, useMemo, useRef, useState } from "react";
import { call } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { type Comment, keepCommentDraft, type Place, readCommentDraft } from "./comments/place.ts";
import type { Talk } from "./diff/DiffRow.tsx";
import type { DiffFile } from "./diff/model.ts";
import type { Report } from "./use-run.ts";

/** What was said about the change that is shown, where somebody is writing, and what rows do about it. */
export function useTalk(report: Report, candidate: number | null, files: readonly DiffFile[]) {
  const run = report.summary.run_id;
  const [composing, setComposing] = useState<Place | null>(() => readCommentDraft(run)?.place ?? null);
  const text = useRef(readCommentDraft(run)?.text ?? "");
  const begin = useCallback(
    (place: Place) => {
      // What was being written about another place goes along: nothing that was typed is lost.
      keepCommentDraft(run, { place, text: text.current });
      setComposing(place);
    },
    [run],
  );
  const talk = useMemo<Talk | null>(() => {
    if (candidate === null) return null;
    const close = () => {
      text.current = "";
      keepCommentDraft(run, null);
      setComposing(null);
    };
    return {
      begin,
      close,
      draft: () => text.current,
      typed(place, next) {
        text.current = next;
        keepCommentDraft(run, { place, text: next });
      },
      async save({ path, side, from, to }, written) {
        const at = { candidate, path, side, ...(from === null ? {} : { from, to: to ?? from }) };
        await call("agent.comment", { run, at, text: written });
        close();
        await changed();
      },
      async withdraw(id) {
        await call("agent.comment-withdraw", { run, id });
        await changed();
      },
    };
  }, [run, candidate, begin]);
  const { comments } = report;
  const [here, elsewhere] = useMemo(() => split(comments, candidate, files), [comments, candidate, files]);
  return { talk, composing, begin: talk === null ? null : begin, here, elsewhere };
}

/** Those that stand in the change that is shown, and the others: on an earlier one, or on a file that it leaves alone. */
function split(
  comments: readonly Comment[],
  candidate: number | null,
  files: readonly DiffFile[],
): readonly [here: Comment[], elsewhere: Comment[]] {
  const standing = comments.filter(({ withdrawn_at }) => withdrawn_at === null);
  const paths = new Set(files.map(({ path }) => path));
  const isHere = ({ at }: Comment) => at.candidate === candidate && paths.has(at.path);
  return [standing.filter(isHere), standing.filter((comment) => !isHere(comment))];
}

function changed(): Promise<void> {
  return queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => CHANGED.includes(String(name)) });
}

const CHANGED = ["agent.show", "agent.feedback"];
