import { compareCodePoints, decodeUtf8, encodeUtf8 } from "../../../core/canonical/index.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** A canonical object as bytes: what comes before its members, after them, and where each of them begins. */
export interface MemberText {
  readonly before: string;
  readonly after: string;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
}

/** What happens to one member: another text, none any more, or one that is put before the member with this number. */
export interface MemberChange {
  readonly at: number;
  readonly isThere: boolean;
  readonly text: string | null;
}

/** An object of members that are in order. */
export function joinMembers(before: string, after: string, members: readonly string[]): MemberText {
  const starts = new Uint32Array(members.length);
  let at = before.length;
  for (const [i, member] of members.entries()) {
    starts[i] = at;
    at += member.length + 1;
  }
  return { before, after, bytes: encodeUtf8(`${before}${members.join(",")}${after}`), starts };
}

/** Where the member of a name is, or would have to be put. Members are by the code points of their names. */
export function findMember(text: MemberText, name: string): { readonly at: number; readonly isThere: boolean } {
  let [low, high] = [0, text.starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareCodePoints(nameAt(text, middle), name);
    if (order === 0) return { at: middle, isThere: true };
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return { at: low, isThere: false };
}

/** The text of one member, name included. */
export function memberAt(text: MemberText, i: number): string {
  return decodeUtf8(text.bytes.subarray(text.starts[i], endOf(text, i))) ?? "";
}

function nameAt({ bytes, starts }: MemberText, i: number): string {
  const start = starts[i]!;
  let end = start + 1;
  while (bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return JSON.parse(decodeUtf8(bytes.subarray(start, end + 1)) ?? "") as string;
}

function endOf({ bytes, starts, after }: MemberText, i: number): number {
  return i + 1 < starts.length ? starts[i + 1]! - 1 : bytes.length - after.length;
}

/** The object after some changes, which are in the order of their places. Cost: one copy. */
export function spliceMembers(text: MemberText, changes: readonly MemberChange[]): MemberText {
  const { before, after, bytes, starts: old } = text;
  const more = changes.filter((change) => !change.isThere).length;
  const fewer = changes.filter((change) => change.text === null).length;
  const starts = new Uint32Array(old.length + more - fewer);
  const added = changes.reduce((size, change) => size + (change.text?.length ?? 0) + 1, 0);
  const whole = new Uint8Array(bytes.length + added);
  let [end, count, from] = [0, 0, 0];
  const put = (part: Uint8Array) => {
    whole.set(part, end);
    end += part.length;
  };
  const begin = () => {
    if (count > 0) whole[end++] = COMMA;
  };
  const keepUpTo = (to: number) => {
    if (to === from) return;
    begin();
    const moved = end - old[from]!;
    put(bytes.subarray(old[from], endOf(text, to - 1)));
    for (; from < to; from++) starts[count++] = old[from]! + moved;
  };
  put(encodeUtf8(before));
  for (const { at, isThere, text: member } of changes) {
    keepUpTo(at);
    if (isThere) from = at + 1;
    if (member === null) continue;
    begin();
    starts[count++] = end;
    put(encodeUtf8(member));
  }
  keepUpTo(old.length);
  put(encodeUtf8(after));
  return { before, after, bytes: whole.subarray(0, end), starts };
}
