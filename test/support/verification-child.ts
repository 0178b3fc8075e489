import { choosePlace, MENDED, openComposition, takeBase, toCandidate, tryPlace } from "./verification-repo.ts";

/** A verification in a process of another user: BASE ROOT GUARD. Says what the place was and what its command saw. */
const [base, root, guard] = process.argv.slice(2) as [string, string, "ns-overlay" | "ns-bind"];
const repo = { base, root };
const composition = openComposition(repo);
const begun = await takeBase(repo);
const candidate = await toCandidate(composition, {
  "src/date.js": MENDED,
  "docs/old": "a file where a folder was\n",
  "docs/old/a.txt": null,
  "docs/old/b.txt": null,
  plain: null,
  "plain/inside.txt": "a folder where a file was\n",
  link: { link: "test.js" },
  "shut/new.txt": "new\n",
  "shut/was.txt": null,
});
const place = await choosePlace(composition, repo, begun, { guard });
const look =
  "node test.js && cat docs/old plain/inside.txt && readlink link && ls -l shut | cut -c1-10 && ls shut && id -u";
const { stdout, stderr, end } = await tryPlace(place, begun, candidate, look);
await composition.close();
process.stdout.write(`${JSON.stringify({ kind: place.kind, stdout, stderr, problem: end.problem })}\n`);
