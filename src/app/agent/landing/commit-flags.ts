import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { CommitWish } from "./commit.ts";

/** How applying a change lands. */
export const commitFlags = {
  commit: z
    .boolean()
    .default(false)
    .describe("Commit what is applied; nothing else that you have staged goes with it."),
  message: z.string().min(1).optional().describe("The message of the commit (default: the goal of the run)."),
  branch: z
    .string()
    .min(1)
    .optional()
    .describe("Commit to a new branch of this name; your working tree stays as it is."),
};

/** What was asked about a commit; null: none was. */
export function toCommitWish(input: {
  readonly commit: boolean;
  readonly message?: string | undefined;
  readonly branch?: string | undefined;
}): CommitWish | null {
  const { commit, message = null, branch = null } = input;
  if (commit || branch !== null) return { message, branch };
  if (message === null) return null;
  throw new VerbatimError("USAGE", {
    message: {
      cli: "--message is the message of a commit: add --commit or --branch NAME",
      others: "message is the message of a commit: add commit or branch",
    },
  });
}
