// Which way things may point: surfaces -> app -> rooms -> core <- adapters, and app/compose -> adapters.
// test/prohibition/dependency-rules.test.ts plants one violation per rule.

const { builtinModules } = require("node:module");

const NODE = `^(node:.+|${builtinModules.join("|")})$`;
const LAYER = "^src/(core|rooms|adapters|app|surfaces)/";
const ENTRY = "^src/[^/]+[.]ts$";

/** Matches an npm package whether it resolved to a file or not. */
const npm = (...names) => `(^|node_modules/)(${names.join("|")})(/|$)`;
const NPM = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-bundled", "npm-no-pkg", "npm-unknown"];

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const forbidden = [
  {
    name: "no-circular",
    comment: "Modules that need each other are one module, or hide a third that both need.",
    severity: "error",
    from: {},
    // Types are gone at run time, and what is imported on demand is loaded after both are.
    to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only", "dynamic-import"] } },
  },
  {
    name: "no-unresolved",
    comment: "An import that leads nowhere fails when it is run.",
    severity: "error",
    from: {},
    // Built in from Node 22 on; the driver asks for it at run time only where it is stable.
    to: { couldNotResolve: true, pathNot: "^node:sqlite$" },
  },
  {
    name: "core-imports-core-only",
    comment: "The hall imports nothing of ours. What it needs from outside is a port in core/ports.ts.",
    severity: "error",
    from: { path: "^src/core/" },
    to: { path: "^src/", pathNot: "^src/core/" },
  },
  {
    name: "core-and-rooms-without-node",
    comment: "The hall and the rooms run in a browser too. Declare a port and implement it in adapters/.",
    severity: "error",
    from: { path: "^src/(core|rooms)/" },
    to: { path: NODE },
  },
  {
    name: "rooms-never-each-other",
    comment: "What two rooms share is in the hall, or is handed in as a port by app/compose.",
    severity: "error",
    from: { path: "^src/rooms/([^/]+)/" },
    to: { path: "^src/rooms/", pathNot: "^src/rooms/$1/" },
  },
  {
    name: "rooms-import-core-only",
    comment: "A room knows the hall and itself. Adapters reach it through its ports.",
    severity: "error",
    from: { path: "^src/rooms/" },
    to: { path: "^src/", pathNot: "^src/(core|rooms)/" },
  },
  {
    name: "adapters-import-core-and-ports",
    comment: "An adapter implements ports: it knows a room by ports.ts and contracts/, for types as well.",
    severity: "error",
    from: { path: "^src/adapters/" },
    to: { path: "^src/rooms/", pathNot: "^src/rooms/[^/]+/(ports[.]ts$|contracts/)" },
  },
  {
    name: "rooms-by-their-front-door",
    comment: "What the app may use of a room is listed in its index.ts. Add it there, or ask for it differently.",
    severity: "error",
    from: { path: ["^src/(app|surfaces)/", ENTRY] },
    to: { path: "^src/rooms/", pathNot: "^src/rooms/[^/]+/index[.]ts$" },
  },
  {
    name: "nobody-inside-uses-the-front-door",
    comment: "Inside a room, import the module itself: index.ts imports all of them.",
    severity: "error",
    from: { path: "^src/rooms/" },
    to: { path: "^src/rooms/[^/]+/index[.]ts$" },
  },
  {
    name: "adapters-below-the-app",
    comment: "An adapter does not know who uses it.",
    severity: "error",
    from: { path: "^src/adapters/" },
    to: { path: "^src/(app|surfaces)/" },
  },
  {
    name: "only-compose-imports-adapters",
    comment: "app/compose is where adapters meet ports. Declare what you need, and let it be handed in from there.",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/(adapters|app/compose)/" },
    to: { path: "^src/adapters/" },
  },
  {
    name: "app-not-surfaces",
    comment: "The app does not know which door it is called through.",
    severity: "error",
    from: { path: "^src/app/" },
    to: { path: "^src/surfaces/" },
  },
  {
    name: "surfaces-import-app-and-core",
    comment: "A surface parses input, calls one operation of the app, renders the result.",
    severity: "error",
    from: { path: "^src/surfaces/" },
    to: { path: "^src/(rooms|adapters)/" },
  },
  {
    name: "surfaces-never-each-other",
    comment: "A verb that starts another surface is wired in src/main.ts, above them.",
    severity: "error",
    from: { path: "^src/surfaces/([^/]+)/" },
    to: { path: "^src/surfaces/", pathNot: "^src/surfaces/$1/" },
  },
  {
    name: "main-above-the-surfaces",
    comment: "src/main.ts starts surfaces; it does not reach past the app.",
    severity: "error",
    from: { path: "^src/main[.]ts$" },
    to: { path: "^src/(rooms|adapters)/" },
  },
  {
    name: "nobody-imports-an-entry",
    comment: "The files directly under src/ are what we publish. Import the module itself.",
    severity: "error",
    from: { path: LAYER },
    to: { path: ENTRY },
  },
  {
    name: "browser-entries-stay-pure",
    comment:
      "verbatim-agent/contracts and verbatim-agent/verify run in a browser; test/prohibition reads what is built.",
    severity: "error",
    from: { path: "^src/(contracts|verify)[.]ts$" },
    to: { path: "^src/(adapters|surfaces)/", pathNot: "^src/adapters/crypto/web-", reachable: true },
  },
  {
    name: "npm-not-for-development",
    comment:
      "What ships may only import production dependencies; the queue is an optional peer, loaded where it is needed.",
    severity: "error",
    from: { path: "^src/" },
    to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], pathNot: "^node_modules/pg-boss/" },
  },
  {
    name: "npm-core-and-rooms-zod-only",
    comment: "The hall and the rooms use zod and nothing else from npm.",
    severity: "error",
    from: { path: "^src/(core|rooms)/" },
    to: { dependencyTypes: NPM, pathNot: npm("zod") },
  },
  {
    name: "npm-database-in-adapters",
    comment: "SQL and its drivers live in adapters/sql.",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/adapters/" },
    to: { path: npm("pg", "@photostructure/sqlite") },
  },
  {
    name: "npm-terminal-in-cli",
    comment: "Command line parsing and prompts belong to surfaces/cli.",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/surfaces/cli/" },
    to: { path: npm("commander", "@clack/[^/]+") },
  },
  {
    name: "npm-protocols-in-their-surface",
    comment: "hono belongs to surfaces/http.",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/surfaces/http/" },
    to: { path: npm("hono", "@hono/[^/]+") },
  },
  {
    name: "npm-mcp-in-its-surface",
    comment: "The SDK of the Model Context Protocol belongs to surfaces/mcp.",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/surfaces/mcp/" },
    to: { path: npm("@modelcontextprotocol/[^/]+") },
  },
];

module.exports = {
  forbidden,
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "[.]test[.]ts$" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      mainFields: ["main", "types"],
      extensions: [".ts", ".js", ".mjs", ".d.ts"],
    },
  },
};
