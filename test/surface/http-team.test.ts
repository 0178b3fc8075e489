// Guards: over HTTP a token of a team does what its role says and nothing else, in its own workspace, until it is revoked. Every
// operation is tried by every role, so a new one that is opened to more than it says is noticed without being added here.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, listOperations, openApp } from "../../src/app/call.ts";
import { WORKSPACE_ROLES } from "../../src/core/operation.ts";
import { WorldStreams } from "../../src/surfaces/http/live/stream.ts";
import { startHealth } from "../../src/surfaces/http/server/health.ts";
import { runServe } from "../../src/surfaces/http/server/serve.ts";
import { makeHttpSurface } from "../../src/surfaces/http/server/server.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { createTeam, type Team } from "../support/team.ts";

const postgres = await usePostgres();
const operations = (await listOperations()).filter(
  ({ surfaces, who }) => who !== undefined && (surfaces === undefined || surfaces.includes("http")),
);

describe("a team's HTTP API", needs(postgres.reason), () => {
  let team: Team;
  let app: App;
  let surface: Awaited<ReturnType<typeof makeHttpSurface>>;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    team = await createTeam(postgres);
    for (const role of WORKSPACE_ROLES) tokens[role] = (await team.must("token", "add", role, "--role", role)).trim();
    app = openApp({ surface: "http", start: team.checkout, env: team.env, platform: process.platform });
    const server = { app, version: "0.0.0", host: "127.0.0.1", token: "harbour-token-of-nobody", onlyQueues: true };
    surface = await makeHttpSurface(server, new WorldStreams(app));
  }, 300_000);

  afterAll(async () => {
    await app?.close();
    await team?.destroy();
  });

  async function ask(token: string | undefined, path: string, input?: unknown) {
    const response = await surface.hono.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: input === undefined ? "GET" : "POST",
        ...(input === undefined ? {} : { body: JSON.stringify(input) }),
        headers: {
          host: "127.0.0.1",
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      }),
    );
    const text = await response.text();
    return { status: response.status, code: /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? "", text };
  }

  it("lets every role call what an operation says and nothing more, and runs no command", {
    timeout: 300_000,
  }, async () => {
    const runs = ["jobs.run", "jobs.submit"];
    for (const { name, who, effect } of operations) {
      const path = `/api/operations/${name}`;
      const no = { no_such_field: 1 };
      for (const role of WORKSPACE_ROLES) {
        const { status, code } = await ask(tokens[role], path, no);
        const mayCall = WORKSPACE_ROLES.indexOf(role) >= WORKSPACE_ROLES.indexOf(who!.workspace);
        const isRun = effect === "mutate" && !runs.includes(name);
        const expected = !mayCall ? [403, "ROLE_FORBIDDEN"] : isRun ? [403, "USE_CHECKOUT"] : [400, "INPUT_INVALID"];
        expect([name, role, status, code]).toEqual([name, role, ...expected]);
      }
      expect((await ask(undefined, path, no)).status).toBe(401);
    }
    const task = { operation: "agent.start", input: {}, key: "k" };
    expect(await ask(tokens["owner"], "/api/tasks", task)).toMatchObject({ status: 403, code: "USE_CHECKOUT" });
    for (const path of ["/api/metrics", "/api/events", "/api/runs/x/archive", "/api/worlds"]) {
      expect([path, (await ask(tokens["reviewer"], path)).code]).toEqual([path, "ROLE_FORBIDDEN"]);
    }
  });

  it("opens what a reader may only read, and no operation to somebody without a role", () => {
    const readers = operations.filter(({ who }) => who!.workspace === "reader");
    expect(readers.filter(({ effect }) => effect !== "read")).toEqual([]);
    const reviewers = operations.filter(({ who }) => who!.workspace === "reviewer").map(({ name }) => name);
    expect(reviewers.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      "agent.land",
      "agent.queue",
      "context.expand",
      "context.search",
      "context.symbol-add",
      "context.symbol-remove",
      "context.symbol-repin",
      "context.symbol-replace",
      "jobs.cancel",
      "jobs.land",
      "jobs.post",
      "jobs.retry",
      "jobs.run",
      "jobs.submit",
    ]);
  });

  it("says in the ledger who it was", async () => {
    const symbol = { symbol_id: "@HARBOUR/BELL", file: "boats.md", slice: "head(1)" };
    const added = await ask(tokens["reviewer"], "/api/operations/context.symbol-add", symbol);
    expect([added.status, added.text]).toEqual([200, expect.stringContaining("@HARBOUR/BELL")]);
    const [entry] = await team.sql(
      "select kind, actor from verbatim.ledger_entry order by time desc, position desc limit 1",
    );
    expect(entry).toEqual({ kind: expect.stringContaining("SYMBOL"), actor: "user/reviewer" });
    const audit = await team.sql(
      "select kind, actor, body from verbatim.ledger_entry where stream = 'audit' order by position",
    );
    expect(audit.map(({ kind, actor }) => [kind, actor])).toEqual([
      ["REPOSITORY_ADDED", "cli"],
      ["TOKEN_ADDED", "cli"],
      ["TOKEN_ADDED", "cli"],
      ["TOKEN_ADDED", "cli"],
    ]);
    expect(JSON.stringify(audit)).not.toContain("vt_");
    const stored = await team.sql("select * from verbatim.access_token");
    for (const token of Object.values(tokens)) expect(JSON.stringify(stored)).not.toContain(token.slice(3));
  });

  it("has workers that say how they are, and queues that anybody may look at", { timeout: 300_000 }, async () => {
    const job = await team.postReads("boats to count");
    const waiting = JSON.parse(await team.must("worker", "queues", "--json")) as { queues: object[]; dead: number };
    expect(waiting).toMatchObject({
      queues: [{ queue: expect.stringMatching(/^read\//), ready: 1, active: 0 }],
      dead: 0,
    });
    expect(await team.must("worker", "queues")).toMatch(/^queue .*\nread\/.* {2}1 {6}0 .*\n0 of 0 slots are busy\n$/);
    expect((await team.verbatim("worker", "--health", "127.0.0.1:0")).stderr).toContain("USAGE");
    let url = "";
    const serveHealth: typeof startHealth = async (...asked) => {
      const health = await startHealth(...asked);
      ({ url } = health);
      return health;
    };
    const own = openApp({
      surface: "cli",
      start: team.checkout,
      env: team.env,
      platform: process.platform,
      serveHealth,
    });
    const stop = new AbortController();
    const working = own.call("team.worker", { health: "127.0.0.1:0" }, { signal: stop.signal });
    const read = async (path: string) => {
      const answer = await fetch(`${url}${path}`).catch(() => null);
      return answer === null ? "" : answer.text();
    };
    try {
      while (!(await read("/metrics")).includes('verbatim_worker_items_total{kind="read",end="DONE"} 1')) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(await read("/metrics")).toMatch(/^verbatim_worker_slots 1$/m);
      expect(await read("/readyz")).toBe("ready\n");
      expect(await team.must("job", "status", job)).toContain("SUCCEEDED");
    } finally {
      stop.abort();
      expect(await working).toMatchObject({ jobs: 1 });
      await own.close();
    }
    expect(await read("/healthz")).toBe("");
  });

  it("is closed to a token that is revoked, over, or of another workspace, also in a session", async () => {
    const path = "/api/operations/jobs.list";
    const mira = (await team.must("token", "add", "mira", "--role", "reader")).trim();
    expect((await team.verbatim("token", "add", "mira", "--role", "owner")).stderr).toContain("TOKEN_EXISTS");
    const opened = await ask(undefined, "/api/session", { token: mira });
    const { session, role } = JSON.parse(opened.text) as { session: string; role: string };
    expect(role).toBe("reader");
    expect([(await ask(mira, path, {})).status, (await ask(session, path, {})).status]).toEqual([200, 200]);
    await team.must("token", "revoke", "mira");
    expect([(await ask(mira, path, {})).status, (await ask(session, path, {})).status]).toEqual([401, 401]);
    expect((await team.verbatim("token", "revoke", "mira")).stderr).toContain("TOKEN_UNKNOWN");
    const again = (await team.must("token", "add", "mira", "--role", "reader")).trim();
    expect((await ask(again, path, {})).status).toBe(200);
    await team.sql("update verbatim.access_token set expires_ms = 0 where name = 'mira'");
    expect((await ask(again, path, {})).status).toBe(401);
    expect(await team.must("token", "list")).toMatch(/mira +reader +expired/);
    const foreign = await team.must("token", "add", "ben", "--role", "owner");
    await team.must("workspace", "add", "quay");
    expect((await ask(foreign.trim(), path, {})).status).toBe(200);
    await team.sql(
      "update verbatim.access_token set workspace_id = (select id from verbatim.workspace where name = 'quay') where name = 'ben'",
    );
    expect((await ask(foreign.trim(), path, {})).status).toBe(401);
  });

  it("is served by verbatim serve, with health beside it, until it is told to stop", async () => {
    const said = { stdout: "", stderr: "" };
    const write = (name: keyof typeof said) => ({ write: (text: string) => void (said[name] += text) });
    const stop = new AbortController();
    const argv = ["--port", "0", "--health", "127.0.0.1:0", "--no-web"];
    const env = { ...team.env, VERBATIM_WORKSPACE: "main" };
    const world = { argv, cwd: team.checkout, env, platform: process.platform, version: "0.0.0" };
    const ended = runServe({ ...world, stdout: write("stdout"), stderr: write("stderr"), signal: stop.signal });
    const until = async (found: () => string | undefined): Promise<string> => {
      for (;;) {
        const text = found();
        if (text !== undefined) return text;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const url = await until(() => /^http:\/\/\S+/m.exec(said.stdout)?.[0]);
    const health = await until(() => /health at ([^\s"]+)/.exec(said.stderr)?.[1]);
    const jobs = (token: string) =>
      fetch(`${url}/api/operations/jobs.list`, {
        method: "POST",
        body: "{}",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      });
    const listed = await jobs(tokens["reader"]!);
    expect(listed.status).toBe(200);
    expect((await jobs("vt_guessed")).status).toBe(401);
    // Every line of the log is an object of members we know; the caller's own name for a request is kept, and no token is said.
    const made = listed.headers.get("x-request-id")!;
    const own = await fetch(`${url}/api/operations/jobs.list`, {
      method: "POST",
      body: "{}",
      headers: {
        authorization: `Bearer ${tokens["reader"]!}`,
        "content-type": "application/json",
        "x-request-id": "harbour-00001",
      },
    });
    expect(own.headers.get("x-request-id")).toBe("harbour-00001");
    const other = await fetch(`${url}/api/health`, { headers: { "x-request-id": "two words" } });
    expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    const lines = said.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const members = ["level", "time", "msg", "workspace", "request_id", "actor", "code", "ms"];
    for (const line of lines) expect(Object.keys(line)).toEqual(members.filter((name) => name in line));
    const asked = lines.filter(({ msg }) => msg === "jobs.list 200");
    expect(asked.map(({ request_id, actor }) => [request_id, actor])).toEqual([
      [made, "user/reader"],
      ["harbour-00001", "user/reader"],
    ]);
    for (const token of Object.values(tokens)) expect(said.stderr).not.toContain(token);
    const ready = await fetch(`${health}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, "ready\n"]);
    expect((await fetch(`${health}/healthz`)).status).toBe(200);
    expect((await fetch(`${health}/api/operations/jobs.list`)).status).toBe(404);
    const metrics = await (await fetch(`${health}/metrics`)).text();
    expect(metrics).toMatch(/^verbatim_http_requests_total\{operation="jobs.list",status="200"\} 2$/m);
    expect(metrics).toMatch(/^verbatim_workers\{state="ready"\} 0$/m);
    expect(metrics).toMatch(/^verbatim_ledger_unchecked_entries [1-9]\d*$/m);
    // Every line is a comment or a sample, and no two samples have one name.
    const samples = metrics
      .trimEnd()
      .split("\n")
      .filter((line) => !line.startsWith("# TYPE "));
    expect(
      samples.filter((line) => !/^verbatim_[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? -?[\d.e+-]+$/.test(line)),
    ).toEqual([]);
    expect(new Set(samples.map((line) => line.replace(/ \S+$/, ""))).size).toBe(samples.length);
    stop.abort();
    expect(await ended).toBe(0);
    expect(said.stdout + said.stderr).not.toContain("#k=");
  });

  it("is not served without a database, nor in the clear off loopback", async () => {
    const run = async (argv: string[], env: NodeJS.ProcessEnv) => {
      let stderr = "";
      const streams = {
        stdout: { write: () => undefined },
        stderr: { write: (text: string) => void (stderr += text) },
      };
      const world = { argv, cwd: team.checkout, env, platform: process.platform, version: "0.0.0" };
      return [await runServe({ ...world, ...streams, signal: AbortSignal.abort() }), stderr] as const;
    };
    expect(await run([], { HOME: team.folder })).toEqual([2, expect.stringContaining("DATABASE_NOT_SET")]);
    const env = { ...team.env, VERBATIM_WORKSPACE: "main" };
    expect(await run(["--health", "nowhere"], env)).toEqual([2, expect.stringContaining("USAGE")]);
    expect(await run(["--help"], env)).toEqual([0, ""]);
  });
});
