import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("team.repository-add", {
      path: ["add"],
      args: [{ field: "name", label: "NAME" }],
      flags: { remote: { value: "URL" }, branch: { value: "BRANCH" } },
      examples: ["verbatim repository add harbour --remote https://git.example/team/harbour.git"],
      render({ name, id, remote, default_branch, roots, existing }, io) {
        const done = existing ? "is there already" : io.paint.good("added");
        io.line(`repository ${name} ${done}: ${id}`);
        io.line(`  ${default_branch} of ${remote}, ${roots.length} first ${roots.length === 1 ? "commit" : "commits"}`);
      },
    }),
    defineVerb("team.repository-list", {
      path: ["list"],
      examples: ["verbatim repository list"],
      render({ repositories }, io) {
        for (const { name, default_branch, remote } of repositories) io.line(`${name}  ${default_branch} of ${remote}`);
        if (repositories.length === 0) io.line("no repository yet: verbatim repository add NAME --remote URL");
      },
    }),
  ],
};
