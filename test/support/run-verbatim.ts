import { main } from "../../src/main.ts";

// The command line from source, for tests that need a process of their own.
await main(process.argv.slice(2));
