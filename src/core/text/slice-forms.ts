/** The forms of a slice (Catalytic Chat Contract, Slice Forms): `name[a:b]` for a range, `name(n)` for a count. */
const RANGE_FORMS = ["lines", "chars"] as const;
const COUNT_FORMS = ["head", "tail"] as const;

type RangeForm = (typeof RANGE_FORMS)[number];
type CountForm = (typeof COUNT_FORMS)[number];

/** A slice that was understood: `[from, to)` of lines or characters, or a count from one end. */
export type Slice =
  | { readonly form: RangeForm; readonly from: number; readonly to: number }
  | { readonly form: CountForm; readonly count: number };

const EXAMPLES: Readonly<Record<RangeForm | CountForm, string>> = {
  lines: "lines[0:40]",
  chars: "chars[0:900]",
  head: "head(9)",
  tail: "tail(9)",
};

export const MAX_SLICE_LENGTH = 64;

const NUMBER = "0|[1-9][0-9]*";
const RANGE = new RegExp(`^(${RANGE_FORMS.join("|")})\\[(${NUMBER}):(${NUMBER})\\]$`);
const COUNT = new RegExp(`^(${COUNT_FORMS.join("|")})\\((${NUMBER})\\)$`);

/** What a schema can say of a slice: its form, and that it does not end at 0. */
export const SLICE_PATTERN = new RegExp(
  `^(?:(?:${RANGE_FORMS.join("|")})\\[(?:${NUMBER}):[1-9][0-9]*\\]|(?:${COUNT_FORMS.join("|")})\\([1-9][0-9]*\\))$`,
);

/** The parts of a slice as they are written, or null for a text that has none of the forms. */
export function splitSlice(
  text: string,
):
  | { readonly form: RangeForm; readonly a: string; readonly b: string }
  | { form: CountForm; readonly n: string }
  | null {
  // `$` in JavaScript without the m flag matches only at the very end, so a final line feed is refused.
  if (text.length > MAX_SLICE_LENGTH) return null;
  const range = RANGE.exec(text);
  if (range !== null) return { form: range[1] as RangeForm, a: range[2]!, b: range[3]! };
  const count = COUNT.exec(text);
  return count === null ? null : { form: count[1] as CountForm, n: count[2]! };
}

const FORMS = [...RANGE_FORMS.map((form) => `${form}[a:b]`), ...COUNT_FORMS.map((form) => `${form}(n)`)];

/** The forms for people: `lines[a:b], chars[a:b], head(n) or tail(n)`. */
export const SLICE_FORMS = `${FORMS.slice(0, -1).join(", ")} or ${FORMS.at(-1)}`;

/** The same without a last word, for where a sentence goes on. */
export const SLICE_FORM_LIST = FORMS.join(", ");

/** One slice of each form. */
export const SLICE_EXAMPLES = Object.values(EXAMPLES).join(", ");
