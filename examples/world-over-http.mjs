// @ts-check
// Starts the server, plays a beat in a world over HTTP, and sees that a secret stays with those who heard it.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { check, makeSample } from "./sample.mjs";

const sample = makeSample();
const token = randomUUID();
const verbatim = fileURLToPath(new URL("../bin/verbatim.js", import.meta.resolve("verbatim-agent")));
const args = [verbatim, "studio", "-C", sample.repository, "--port", "0", "--token", token, "--no-web"];
const server = spawn(process.execPath, args, { env: sample.env, stdio: ["ignore", "pipe", "inherit"] });

/** The server prints its address when it is ready. */
async function waitForAddress() {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
    if (found !== null) return found[0];
  }
  throw new Error("the server ended before it was ready");
}

/**
 * Any operation can be called by its name; the types are those of the table.
 *
 * @template {import("verbatim-agent/api").OperationName} N
 * @param {string} address
 * @param {N} name
 * @param {import("verbatim-agent/api").Operations[N]["input"]} input
 * @returns {Promise<import("verbatim-agent/api").Operations[N]["output"]>}
 */
async function call(address, name, input) {
  const response = await fetch(`${address}/api/operations/${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
  return response.json();
}

try {
  const address = await waitForAddress();
  const world = "w_harbour";
  await call(address, "world.new", { title: "Harbour", world_id: world, person: ["ANA=Ana", "BEN=Ben"] });
  await call(address, "world.presence", { world, present: ["GEORGE", "ANA"] });
  await call(address, "world.say", { world, text: "The spare key is under the blue boat." });

  /** @param {string} viewer */
  const search = (viewer) => call(address, "world.search", { world, query: "spare key", viewer });
  check((await search("ANA")).results.length > 0, "Ana was there and knows about the key");
  check((await search("BEN")).results.length === 0, "Ben was not, and learns nothing");
  check((await call(address, "world.verify", { world })).ok, "the record of the world verifies");

  const stranger = await fetch(`${address}/api/operations/world.list`, { method: "POST", body: "{}" });
  check(stranger.status === 401, "nobody gets in without the token");
} finally {
  server.kill();
  await once(server, "exit");
  sample.remove();
}
