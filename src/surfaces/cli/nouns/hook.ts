import type { Output } from "../../../app/operations.ts";
import type { Io } from "../io.ts";
import { defineVerb, type Noun } from "../verb.ts";

function defineHookVerb(event: "pre-tool" | "post-tool" | "stop") {
  return defineVerb(`hook.${event}`, {
    path: [event],
    args: [{ field: "file", label: "FILE", optional: true }],
    examples: [
      `verbatim hook ${event} < call.json`,
      `verbatim hook ${event} --client codex < call.json`,
      `verbatim hook ${event} --client cursor call.json --json`,
    ],
    async render(reply, io) {
      await io.out(reply.stdout);
      if (reply.stderr !== "") io.note(reply.stderr.trimEnd());
    },
    exit: ({ exit }) => exit,
  });
}

export const noun: Noun = {
  verbs: [
    defineHookVerb("pre-tool"),
    defineHookVerb("post-tool"),
    defineHookVerb("stop"),
    defineVerb("hook.install", {
      path: ["install"],
      flags: { write: { name: "yes" } },
      examples: [
        "verbatim hook install --client claude",
        "verbatim hook install --client cursor --yes",
        "verbatim hook install --client gemini --user",
      ],
      async prepare(given, io, app) {
        const { client, ...rest } = given;
        if (client === undefined || given.write === true || io.flags.json || !io.interactive) return given;
        const proposal = await app.call("hook.install", { client, ...rest, write: false });
        if (proposal.state === "unchanged") return given;
        showBlock(proposal, io);
        await io.flush();
        return { ...given, write: await io.confirm(`Merge this into ${proposal.file}?`) };
      },
      render(outcome, io) {
        if (!io.interactive && outcome.state !== "unchanged") showBlock(outcome, io);
        const words = {
          created: `${io.paint.good("created")} ${outcome.file}`,
          merged: `${io.paint.good("merged")} into ${outcome.file}; the rest of the file is unchanged`,
          unchanged: `${outcome.file} already has these hooks`,
          proposed: `nothing was written; to merge it into ${outcome.file}, add ${io.paint.bold("--yes")}`,
        };
        io.line(words[outcome.state]);
        for (const note of outcome.notes) io.line(`- ${note}`);
      },
    }),
  ],
};

function showBlock({ block }: Output<"hook.install">, io: Io): void {
  io.line(JSON.stringify(block, null, 2));
}
