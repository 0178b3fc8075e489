import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.demo", {
      path: [],
      examples: ["verbatim demo", "verbatim demo --keep"],
      render(story, io) {
        for (const [i, step] of story.steps.entries()) {
          const mark = step.ok ? io.paint.good("✓") : io.paint.bad("✗");
          io.line(`${mark} ${io.paint.bold(`${i + 1}. ${step.title}`)}`);
          for (const line of step.lines) io.line(`    ${line}`);
        }
        io.line();
        io.line(io.paint.bold("try next"));
        for (const line of story.next) io.line(`  ${line}`);
        if (story.folder !== null) io.line(`  the sample is in ${story.folder}`);
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
