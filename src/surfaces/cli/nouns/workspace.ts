import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("team.workspace-add", {
      path: ["add"],
      args: [{ field: "name", label: "NAME" }],
      flags: { login: { value: "LOGIN" } },
      examples: ["verbatim workspace add harbour", "verbatim workspace add harbour --login verbatim_worker"],
      render({ where, name, id, existing, logins }, io) {
        const done = existing ? "is there already" : io.paint.good("added");
        io.line(`workspace ${name} ${done}: ${id} in ${where}`);
        io.line(`  logins: ${logins.join(", ")}`);
      },
    }),
  ],
};
