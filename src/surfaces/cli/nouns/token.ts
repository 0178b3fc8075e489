import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("team.token-add", {
      path: ["add"],
      args: [{ field: "name", label: "NAME" }],
      flags: { role: { value: "ROLE" }, expires: { value: "DAYS" } },
      examples: ["verbatim token add mira --role reviewer", "verbatim token add ci --role reader --expires 7"],
      render({ name, role, expires, token }, io) {
        io.note(`token of ${name}, ${role}, good until ${expires}; it is not shown again`);
        io.line(token);
      },
    }),
    defineVerb("team.token-list", {
      path: ["list"],
      examples: ["verbatim token list"],
      render({ tokens }, io) {
        const rows = tokens.map(({ name, role, state, expires, created_by }) => [
          name,
          role,
          state,
          expires,
          created_by,
        ]);
        const columns = [
          { title: "name" },
          { title: "role" },
          { title: "state" },
          { title: "until" },
          { title: "made by", shrink: true },
        ] as const;
        if (rows.length === 0) io.line("no token yet: verbatim token add NAME --role reviewer");
        else for (const line of formatTable(columns, rows, io.width)) io.line(line);
      },
    }),
    defineVerb("team.token-revoke", {
      path: ["revoke"],
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim token revoke mira"],
      render: ({ name }, io) => io.line(`the token of ${name} is worthless now`),
    }),
  ],
};
