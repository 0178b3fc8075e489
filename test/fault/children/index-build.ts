import { buildIndex } from "../../../src/rooms/context/index/index-build.ts";
import { openRoom } from "../../support/context-room.ts";

// Builds an index, and dies where it is told to: `read N`, `transaction N` (before its commit), or `end` (not at all).

const [root, state, point, count, full] = process.argv.slice(2) as [string, string, string, string, string];

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal arrives at once; this only tells the compiler so.
  for (;;);
}

let reads = 0;
let transactions = 0;
const room = await openRoom({
  root,
  state,
  onRead: () => {
    if (point === "read" && ++reads === Number(count)) die();
  },
});
const { store } = room;
const ports = {
  ...room,
  store: {
    ...store,
    read: store.read.bind(store),
    close: store.close.bind(store),
    transact: <T>(fn: Parameters<typeof store.transact<T>>[0]) =>
      store.transact(async (tx) => {
        const result = await fn(tx);
        if (point === "transaction" && ++transactions === Number(count)) die();
        return result;
      }),
  },
};
console.log("started");
const built = await buildIndex(ports, { full: full === "full", stageSize: 200 });
console.log(built.index_hash);
await room.close();
