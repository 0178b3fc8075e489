import { VerbatimError } from "../../core/errors/index.ts";

/** A prompt as it is listed. */
interface ListedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: { readonly name: string; readonly description: string; readonly required: boolean }[];
}

interface PromptPlan extends ListedPrompt {
  /** What the user asks, in the words of this surface: tools and resources. */
  write(given: Readonly<Record<string, string>>): string;
  /** A resource that belongs to the question, by its address. */
  attach?(given: Readonly<Record<string, string>>): string;
}

const PROMPTS: readonly PromptPlan[] = [
  {
    name: "quote",
    title: "Quote exactly",
    description: "Answers a question with exact lines of this workspace and where they are.",
    arguments: [{ name: "question", description: "What to find out.", required: true }],
    write: ({ question }) =>
      `Answer this with exact quotations from the workspace: ${question}

1. Call context_search with the few words that must stand at the answer.
2. Make the call in next, or pass the refs that fit to context_expand. Look at previews only to choose: quote what was expanded.
3. Quote the lines unchanged, each quotation with its path, its lines and its content_hash. Say what is your own conclusion.
4. If nothing fits, say that the workspace does not answer it, and which words you searched for.`,
  },
  {
    name: "review-patch",
    title: "Check a patch",
    description: "Checks a unified diff with the patch gate and explains what would be rejected.",
    arguments: [
      { name: "patch", description: "The diff; default: the change you are about to propose.", required: false },
    ],
    write: ({ patch = "" }) =>
      `Check ${patch === "" ? "the change you propose, written as a unified diff with diff --git headers," : "the diff below"} with patch_check.

1. Call patch_check with the whole diff in patch.
2. If it is rejected, name the rule, the path and the line for each finding, and what advice says; read the lines around it with context_expand when you need them.
3. Repair the diff and check it again until it is accepted. Nothing is applied by this: say what would change and leave applying to the user.${
        patch === "" ? "" : `\n\n${patch}`
      }`,
  },
  {
    name: "explain-run",
    title: "Explain an agent's run",
    description: "Explains what an agent's run did, how it was checked, and what is open.",
    arguments: [{ name: "run", description: "Id of the run, from the resource run://agent.", required: true }],
    write: ({ run }) =>
      `Explain the agent's run ${run} to me, from the record that is attached (run://agent/${run}).

Say what it was asked to do, what it changed, which checks passed or failed and why, and what the proof does not cover. Say "not recorded" where the record is silent, and do not call the outcome better than it does. End with what I can decide now.`,
    attach: ({ run }) => `run://agent/${run}`,
  },
];

/** The prompts of a surface; an agent in its cage does not see runs. */
export function listPrompts(isCaged: boolean): ListedPrompt[] {
  return plansFor(isCaged).map(({ name, title, description, arguments: given }) => ({
    name,
    title,
    description,
    arguments: [...given],
  }));
}

function plansFor(isCaged: boolean): readonly PromptPlan[] {
  return isCaged ? PROMPTS.filter(({ attach }) => attach === undefined) : PROMPTS;
}

/** A prompt with what was given for it, and the address of what belongs to it; null: there is none. INPUT_INVALID. */
export function writePrompt(name: string, given: Readonly<Record<string, string>>, isCaged: boolean) {
  const plan = plansFor(isCaged).find((one) => one.name === name);
  if (plan === undefined) return null;
  const known = plan.arguments.map((one) => one.name);
  const foreign = Object.keys(given).find((one) => !known.includes(one));
  const missing = plan.arguments.find((one) => one.required && (given[one.name] ?? "").trim() === "");
  if (foreign !== undefined || missing !== undefined) {
    const where = `/arguments/${(foreign ?? missing!.name).slice(0, 100)}`;
    const message = foreign === undefined ? "is required" : `the arguments are ${known.join(", ")}`;
    throw new VerbatimError("INPUT_INVALID", { message: `${where}: ${message}`, where });
  }
  return {
    description: plan.description,
    text: plan.write(given),
    attached: plan.attach === undefined ? null : plan.attach(given),
  };
}
