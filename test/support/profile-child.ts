// Carries a profile in a process of its own and says so after each transaction, until it is done or killed.
import { importProfile } from "../../src/rooms/world/profile/profile.ts";
import { openFolder } from "../../src/rooms/world/profile/source.ts";
import { openWorlds } from "./world.ts";

const [folder, url, profile] = process.argv.slice(2) as [string, string, string];
const worlds = await openWorlds({ folder, ...(url === "" ? {} : { url }) });
const { store } = worlds.ports;
const told: typeof store = Object.assign(Object.create(store) as typeof store, {
  read: store.read.bind(store),
  async transact(...args: Parameters<typeof store.transact>) {
    process.stdout.write("begins\n");
    const value = await store.transact(...args);
    process.stdout.write("committed\n");
    return value;
  },
});
const ports = { ...worlds.ports, store: told };
await importProfile(ports, await openFolder(ports.folders, profile), "folder", false);
process.stdout.write("done\n");
await worlds[Symbol.asyncDispose]();
