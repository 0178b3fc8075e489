import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { useMemory } from "./memory-folder.ts";
import { type PostgresServer, startPostgresServer } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Socket where a test file asks for the PostgreSQL server of this run. */
    readonly postgresDoor: string;
  }
}

/** What a test file is told: where the server is, or why there is none. */
export type PostgresAnswer = { readonly url: string } | { readonly reason: string };

let started: ReturnType<typeof startPostgresServer> | undefined;
let server: PostgresServer | undefined;
let door: Server | undefined;
let folder: string | undefined;
let leaveMemory: (() => void) | undefined;

/** One PostgreSQL server per run, started when the first test file asks for it. */
export async function setup(project: TestProject): Promise<void> {
  leaveMemory = useMemory();
  folder = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "verbatim-door-"));
  const path = join(folder, "s");
  process.env["VERBATIM_RAISED_FOLDER"] ??= join(folder, "raised");
  door = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    void answer().then((text) => socket.end(JSON.stringify(text)));
  });
  await new Promise<void>((resolve) => door?.listen(path, resolve));
  project.provide("postgresDoor", path);
}

export async function teardown(): Promise<void> {
  door?.close();
  await started;
  await server?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  leaveMemory?.();
}

async function answer(): Promise<PostgresAnswer> {
  const isFirst = started === undefined;
  started ??= startPostgresServer();
  const result = await started;
  if ("reason" in result) {
    if (isFirst) console.log(`PostgreSQL tests are skipped: ${result.reason}`);
    return result;
  }
  if (isFirst) console.log(`PostgreSQL tests use: ${result.source}`);
  server = result;
  return { url: result.url("DATABASE") };
}
