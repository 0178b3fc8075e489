import type { HeaderNames, PatchOperation } from "./patch-section.ts";
import { refuseParse } from "./rejection.ts";

/** The part of a section from its `---` line on. */
export interface Body {
  /** Null where the line says /dev/null. */
  readonly old: string | null;
  readonly new: string | null;
  readonly oldLine: number;
  readonly newLine: number;
  readonly hunks: readonly { readonly oldCount: number; readonly newCount: number }[];
  readonly added: number;
  readonly deleted: number;
}

/** /dev/null stands exactly where a file is made or goes away. */
export function checkDevNull(body: Body, operation: PatchOperation): void {
  if ((body.old === null) !== (operation === "create")) refuseParse("dev_null", body.oldLine);
  if ((body.new === null) !== (operation === "delete")) refuseParse("dev_null", body.newLine);
}

/** The names are those of the header, and a file that is made or goes away is so in one piece. */
export function checkBody(body: Body, names: HeaderNames, operation: PatchOperation, line: number): void {
  if (body.old !== null && body.old !== names.old) refuseParse("name_mismatch", body.oldLine);
  if (body.new !== null && body.new !== names.new) refuseParse("name_mismatch", body.newLine);
  const [first, second] = body.hunks;
  const whole = second === undefined;
  if (operation === "create" && (!whole || first!.oldCount !== 0)) refuseParse("hunk_count", line);
  if (operation === "delete" && (!whole || first!.newCount !== 0)) refuseParse("hunk_count", line);
}
