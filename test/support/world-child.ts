// A process of its own on a shared store: says one thing when told to, or keeps talking until it is killed.
import { once } from "node:events";
import { envelope, openWorlds } from "./world.ts";

const [mode, folder, url, world, from] = process.argv.slice(2) as [string, string, string, string, string];
const worlds = await openWorlds({
  folder,
  ...(url === "" ? {} : { url }),
  ...(mode === "talk" ? { times: { lease_ms: 400, lock_ms: 400 } } : {}),
});
process.stdout.write("ready\n");
if (mode === "say") {
  await once(process.stdin, "data");
  const { body } = await worlds.beats.invoke(world, envelope("same", "Everybody says this."));
  process.stdout.write(`${body}\n`);
  await worlds[Symbol.asyncDispose]();
  process.exit(0);
}
for (let n = Number(from); ; n++) {
  const { body } = await worlds.beats.invoke(world, envelope(`r${n}`, `Line ${n} of the boat and the harbour.`));
  process.stdout.write(`done ${n} ${worlds.ports.crypto.sha256(body)}\n`);
}
