import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CampaignReport, describe, runCampaign } from "./mutate/campaign.ts";
import { PATHS } from "./mutate/paths.ts";
import { ROOT } from "./stages.ts";

const HELP = `npm run mutate -- [PATH...] [--minutes N] [--tests N] [--seconds N] [--most N] [--refusals] [--json]

Plants one small mistake after another in a throw-away copy and asks the nearest tests whether they notice.
  --minutes N  stop after N minutes (10); the next run goes on where this one stopped
  --tests N    how many test files, the nearest first, a mistake has to get past (8)
  --seconds N  leave out test files that take longer than N seconds without a mistake (300)
  --most N     try N mistakes of each folder, the same ones every time, instead of all
  --refusals   only mistakes that may turn a refusal into an acceptance; without it they are tried first
  --json       the report as one JSON value
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string", default: "10" },
      tests: { type: "string", default: "8" },
      seconds: { type: "string", default: "300" },
      most: { type: "string" },
      refusals: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const report = await runCampaign({
    root: ROOT.replace(/\/$/, ""),
    paths: positionals.length > 0 ? positionals : PATHS,
    state: join(ROOT, ".mutate/state.json"),
    minutes: readCount("minutes", values.minutes),
    tests: readCount("tests", values.tests),
    seconds: readCount("seconds", values.seconds),
    ...(values.most === undefined ? {} : { most: readCount("most", values.most) }),
    refusals: values.refusals,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
}

function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isFinite(count) || count <= 0) throw new Error(`--${name} takes a number above 0, not ${text}`);
  return count;
}

function formatReport({ folders, survivors, complete }: CampaignReport): string {
  const lines = survivors.map((one) => describe(one.file, one));
  for (const { folder, mutants, chosen, run, killed, score, refusals, refusals_survived } of folders) {
    lines.push(
      `${score === null ? "    -" : `${score.toFixed(1)} %`} ${folder}: ${killed} of ${run} noticed, ` +
        `${chosen} chosen of ${mutants} in all; ${refusals_survived} of ${refusals} refusals survived`,
    );
  }
  if (!complete) lines.push("the time was over before every mistake was tried; run it again to go on");
  return `${lines.join("\n")}\n`;
}

await main();
