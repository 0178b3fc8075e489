/** Names of prompts; only these count against max_outbox_prompts. */
const PROMPT = /^([0-9]{3,6})_[a-z_]+\.md$/;

/** How many prompts an outbox has and which number comes next. */
export function countPrompts(names: Iterable<string>): { readonly prompts: number; readonly next: string } {
  let prompts = 0;
  let highest = 0;
  for (const name of names) {
    const match = PROMPT.exec(name);
    if (match === null) continue;
    prompts++;
    highest = Math.max(highest, Number(match[1]));
  }
  return { prompts, next: String(highest + 1).padStart(3, "0") };
}

/** The prompt with the highest number; after 999 their names are no longer in that order. */
export function findNewestPrompt(names: Iterable<string>): string | undefined {
  let newest: { readonly name: string; readonly number: number } | undefined;
  for (const name of names) {
    const number = Number(PROMPT.exec(name)?.[1] ?? -1);
    if (number > (newest?.number ?? -1)) newest = { name, number };
  }
  return newest?.name;
}
