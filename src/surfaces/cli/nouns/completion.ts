import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.completion", {
      path: [],
      args: [{ field: "shell", label: "SHELL" }],
      flags: { tree: { hidden: true } },
      examples: [
        'eval "$(verbatim completion bash)"',
        "verbatim completion fish > ~/.config/fish/completions/verbatim.fish",
      ],
      async prepare(input, _, app) {
        const { describeTree } = await import("../completion-tree.ts");
        return { ...input, tree: await describeTree(app) };
      },
      render: ({ script }, io) => io.out(script),
    }),
  ],
};
