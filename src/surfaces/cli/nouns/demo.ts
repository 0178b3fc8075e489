import { quotePath } from "../../../app/agent/report/explain-end.ts";
import { defineVerb, type Noun } from "../verb.ts";

export const noun: Noun = {
  verbs: [
    defineVerb("hall.demo", {
      path: [],
      examples: ["verbatim demo", "verbatim demo --keep", "verbatim demo --studio"],
      render(story, io, given) {
        for (const [i, step] of story.steps.entries()) {
          const mark = step.ok ? io.paint.good("✓") : io.paint.bad("✗");
          io.line(`${mark} ${io.paint.bold(`${i + 1}. ${step.title}`)}`);
          for (const line of step.lines) io.line(`    ${line}`);
        }
        io.line();
        io.line(io.paint.bold("try next"));
        for (const line of story.next) io.line(`  ${line}`);
        if (story.folder !== null) io.line(`  the sample is in ${story.folder}`);
        // On a terminal the Studio opens by itself.
        if (given.studio !== true || story.kept === null || io.interactive) return;
        const { repository, home, run_id } = story.kept;
        io.line();
        io.line(`${io.paint.bold("see it in a browser")} (in a checkout, verbatim is node bin/verbatim.js)`);
        // The sample has a home of its own, and its runs are there.
        io.line(`  export XDG_CONFIG_HOME=${quotePath(home)} XDG_STATE_HOME=${quotePath(home)}`);
        io.line(`  verbatim studio -C ${quotePath(repository)} --at /runs/${run_id}`);
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
