import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";

const PROGRAM = "pgbouncer";
const READY_MS = 10_000;

/** Why there is no PgBouncer here; null when there is one. */
export function findPgBouncer(): string | null {
  const { status } = spawnSync(PROGRAM, ["--version"], { env: { ...process.env, PATH: PLACES } });
  return status === 0 ? null : "there is no pgbouncer on this machine";
}

const PLACES = `${process.env["PATH"] ?? ""}:/usr/sbin`;

/** A pooler in transaction mode with few server connections before a database; `address` leads through it. */
export async function startPgBouncer(url: string, folder: string, size: number) {
  const { host, port, database, user } = new pg.Client({ connectionString: url });
  const own = await freePort();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    [
      "[databases]",
      `${database} = host=${host} port=${port} dbname=${database} user=${user}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${own}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      `default_pool_size = ${size}`,
      "max_client_conn = 200",
      "log_connections = 0",
      "log_disconnections = 0",
      "",
    ].join("\n"),
  );
  // It refuses to be root.
  const isRoot = process.getuid?.() === 0;
  const args = [...(isRoot ? ["-u", "nobody"] : []), file];
  const child = spawn(PROGRAM, args, { stdio: "ignore", env: { ...process.env, PATH: PLACES } });
  const end = performance.now() + READY_MS;
  while (!(await answers(own))) {
    if (performance.now() > end) throw new Error("pgbouncer does not answer");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    address: `postgres://${user}@127.0.0.1:${own}/${database}`,
    async stop() {
      child.kill("SIGINT");
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}
