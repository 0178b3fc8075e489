import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const server = process.env["VERBATIM_STUDIO"] ?? "http://127.0.0.1:4680";

const UNSAID = /[\\/]core[\\/]errors[\\/](?:codes|findings)[\\/](?:agent|catalytic|workflow|world)\.ts$/;

/** The verifier raises what bundles and the ledger can be refused for; the words of other rooms stay out of it. */
const withoutOtherRooms: Plugin = {
  name: "without-other-rooms",
  enforce: "pre",
  load: {
    filter: { id: UNSAID },
    async handler(id) {
      const names = [...(await readFile(id, "utf8")).matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
      return names.map((name) => `export const ${name} = {};`).join("\n");
    },
  },
};

/** The Studio as files that a strict content policy lets in: nothing inline, no data addresses, no maps. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [react()],
  resolve: {
    dedupe: ["react", "react-dom"],
    // What a worker verifies with is the same source as the package's own, and so is its zod.
    alias: {
      "verbatim-agent/verify": fileURLToPath(new URL("../src/verify.ts", import.meta.url)),
      // Its own "module" names a file that is not there.
      "@xterm/headless": "@xterm/headless/lib-headless/xterm-headless.js",
    },
  },
  worker: {
    format: "es",
    plugins: () => [withoutOtherRooms],
    rolldownOptions: {
      // Our modules do nothing by being loaded, and the verifier needs few of those that its front doors name.
      treeshake: { moduleSideEffects: (id) => !/\/src\/(?:core|rooms|app|adapters)\/|node_modules\/zod/.test(id) },
    },
  },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        index: fileURLToPath(new URL("index.html", import.meta.url)),
        sw: fileURLToPath(new URL("src/sw.ts", import.meta.url)),
      },
      output: {
        // A service worker has one address for ever, at the root of what it is for.
        entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        // What every screen needs comes in one file that changes only when its packages do.
        codeSplitting: {
          groups: [{ name: "base", test: /node_modules[\\/](?:react|react-dom|scheduler|@tanstack)[\\/]/ }],
        },
      },
    },
  },
  // `npm run studio:dev`: the pages from here, the API from a server that runs; to it, every request is its own.
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on("proxyReq", (request) => request.setHeader("origin", server));
        },
      },
    },
  },
});
