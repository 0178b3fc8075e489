import { z } from "zod";

/** Names of workspaces and repositories: short, lower case, safe in a path and in a queue's name. */
const NAME = /^[a-z][a-z0-9-]{1,38}$/;

export const workspaceName = z.string().regex(NAME).describe("Name of the workspace.");
export const repositoryName = z.string().regex(NAME).describe("Name of the repository.");
