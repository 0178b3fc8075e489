import { type CappedRequest, runCapped } from "./caps-cage.ts";

/** Commands under caps in a process of another user, all at once. */
const requests = JSON.parse(process.argv[2] ?? "[]") as CappedRequest[];
const answers = await Promise.all(requests.map((request) => runCapped(request)));
process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit(0));
