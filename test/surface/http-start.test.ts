// Starting agents over HTTP: commands by name that their owner allowed, any command only for whoever sits at the machine.
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { type EndedTask, serveRepo } from "../support/agent-server.ts";

type Commands = Awaited<ReturnType<Server["call"]>> & { readonly commands: readonly Record<string, unknown>[] };
type Server = Awaited<ReturnType<typeof serveRepo>>;

const KEEPER = {
  argv: ["sh", "-c", 'echo "$1" >> lamp.txt', "keeper", "{goal}"],
  verify: ["test -s lamp.txt"],
  timeout_s: 60,
};

function configure(repo: AgentRepo, commands: object, more: object = {}): void {
  repo.write("verbatim.config.json", JSON.stringify({ agent: { commands, ...more } }));
}

function harbour(commands: object, more: object = {}): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  configure(repo, commands, more);
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

/** A session of somebody who came by the link of the terminal. */
async function linked(server: Server): Promise<string> {
  const code = new URL(server.http.makeLink()).hash.replace("#k=", "");
  const opened = await server.send("/api/session", { method: "POST", body: JSON.stringify({ code }) }, null);
  return ((await opened.json()) as { readonly session: string }).session;
}

/** A task of a session, to its end. */
async function run(server: Server, session: string | undefined, input: object, key: string): Promise<EndedTask> {
  const sent = { method: "POST", body: JSON.stringify({ operation: "agent.start", input, key }) };
  const begun = (await (await server.send("/api/tasks", sent, session)).json()) as { readonly task_id: string };
  for (;;) {
    const task = (await (await server.send(`/api/tasks/${begun.task_id}`, {}, session)).json()) as EndedTask;
    if (!["waiting", "running"].includes(task.state)) return task;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function ended(server: Server, ids: readonly string[]): Promise<void> {
  for (;;) {
    const { working } = await server.call("agent.list", { limit: 1 });
    if (!working.some(({ run_id }) => ids.includes(run_id))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

it("starts a named command as it was allowed, asks again when it has changed, and nobody else widens it", async () => {
  const repo = harbour({ keeper: KEEPER });
  // What a terminal does by itself, a page does not.
  repo.trust({ apply: "auto" });
  const server = await serveRepo(repo);
  const asked = { command: "keeper", goal: "light the lamp" };
  const refused = await run(server, undefined, asked, "k1");
  expect([refused.state, refused.error?.code]).toEqual(["failed", "COMMAND_NOT_ALLOWED"]);

  // Neither somebody with the token alone nor a wrong hash allows it; the command line does, and says what it allowed.
  expect((await server.refusal("agent.commands", { allow: "keeper" })).slice(1)).toEqual(["LOCAL_ONLY", "/allow"]);
  const { stdout } = await repo.verbatim("agent", "commands", "--allow", "keeper");
  expect(stdout).toBe(
    [
      "keeper  allowed on this machine",
      `  starts    sh -c 'echo "$1" >> lamp.txt' keeper '{goal}'`,
      "  verify    test -s lamp.txt",
      "  time      60 s",
      "  network   as for all agents",
      "",
    ].join("\n"),
  );
  const folder = join(repo.base, "state/verbatim/allowed-commands");
  const [file] = readdirSync(folder);
  expect([statSync(folder).mode & 0o777, statSync(join(folder, file!)).mode & 0o777]).toEqual([0o700, 0o600]);

  const done = await run(server, undefined, asked, "k2");
  const { run_id, run_ids, race_id } = done.output as { run_id: string; run_ids: string[]; race_id: string | null };
  expect([done.state, run_ids, race_id]).toEqual(["done", [run_id], null]);
  await ended(server, run_ids);
  const { summary } = await server.call("agent.show", { run: run_id });
  expect([summary.outcome, summary.goal, summary.agent.argv.at(-1)]).toEqual([
    "verified",
    "light the lamp",
    "light the lamp",
  ]);
  // The same key is the same start.
  expect((await run(server, undefined, asked, "k2")).output).toEqual(done.output);
  expect((await server.call("agent.list", {})).total).toBe(1);

  const wider: readonly (readonly [object, string])[] = [
    [{ argv: ["true"], goal: "x" }, "/argv"],
    [{ ...asked, verify: ["true"] }, "/verify"],
    [{ ...asked, no_verify: true }, "/no_verify"],
    [{ ...asked, guard: "audit" }, "/guard"],
    [{ ...asked, timeout_s: 61 }, "/timeout_s"],
  ];
  for (const [input, where] of wider) {
    expect((await server.refusal("agent.start", input)).slice(1)).toEqual(["LOCAL_ONLY", where]);
  }
  expect((await server.refusal("agent.start", { ...asked, command: "lamp" }))[1]).toBe("COMMAND_UNKNOWN");
  expect((await server.refusal("agent.start", { ...asked, permit: ["x"] }))[1]).toBe("INPUT_INVALID");
  expect((await server.refusal("agent.start", { ...asked, goal: "--settings" })).slice(1)).toEqual(["USAGE", "/goal"]);

  // What a pull brought is another command, also where only its check has changed; so is a record that others can write to.
  configure(repo, { keeper: { ...KEEPER, verify: ["true"] } });
  expect((await server.refusal("agent.start", asked))[1]).toBe("COMMAND_NOT_ALLOWED");
  configure(repo, { keeper: KEEPER });
  const read = async () =>
    ((await server.call("agent.commands", {})) as Commands).commands.map(({ allowed }) => allowed);
  expect(await read()).toEqual([true]);
  chmodSync(join(folder, file!), 0o622);
  expect(await read()).toEqual([false]);
});

it("knows no command whose program whoever writes the goal could choose", async () => {
  const repo = makeAgentRepo();
  for (const command of [
    { argv: ["{goal}"] },
    { argv: ["./{goal}", "x"] },
    { argv: ["sh"], feedback: ["{feedback}"] },
  ]) {
    configure(repo, { keeper: command });
    const { exit, stdout, stderr } = await repo.verbatim("agent", "commands");
    const said = "error[CONFIG_INVALID] the program of a command has no placeholder";
    expect([exit, stdout, stderr]).toEqual([2, "", expect.stringContaining(said)]);
  }
});

it("lets a run go on with words of their own only for whoever came by the link, before it looks for the run", async () => {
  const repo = harbour({ keeper: KEEPER });
  const server = await serveRepo(repo);
  const typed = { run: "20260101-000000-abcdef", argv: ["true"] };
  expect((await server.refusal("agent.continue", typed)).slice(1)).toEqual(["LOCAL_ONLY", "/argv"]);
  const named = (command: string) => server.refusal("agent.continue", { run: typed.run, command });
  expect((await named("keeper"))[1]).toBe("COMMAND_NOT_ALLOWED");
  expect((await named("lamp"))[1]).toBe("COMMAND_UNKNOWN");
  const sent = { method: "POST", body: JSON.stringify(typed) };
  const answer = await server.send("/api/operations/agent.continue", sent, await linked(server));
  expect(((await answer.json()) as { error: { code: string } }).error.code).toBe("RUN_NOT_FOUND");
  const still = await serveRepo(repo, { noStart: true });
  for (const input of [typed, { run: typed.run }]) {
    expect((await still.refusal("agent.continue", input))[1]).toBe("START_OFF");
  }
});

it("takes a typed command from whoever came by the link on this machine, and starts nothing where it was told not to", async () => {
  const repo = harbour({ keeper: KEEPER });
  const server = await serveRepo(repo);
  const session = await linked(server);
  const typed = { argv: ["sh", "-c", "echo on > lamp.txt"], goal: "type it", verify: ["grep -q on lamp.txt"] };
  const done = await run(server, session, typed, "t1");
  expect(done.state).toBe("done");
  const { run_id } = done.output as { readonly run_id: string };
  await ended(server, [run_id]);
  expect((await server.call("agent.show", { run: run_id })).summary.outcome).toBe("verified");

  // The page allows what it showed, and not what took its place.
  const post = async (input: object) => {
    const sent = { method: "POST", body: JSON.stringify(input) };
    return (await (await server.send("/api/operations/agent.commands", sent, session)).json()) as {
      readonly commands?: readonly { readonly sha256: string; readonly allowed: boolean }[];
      readonly error?: { readonly code: string };
    };
  };
  const { sha256 } = (await post({})).commands![0]!;
  configure(repo, { keeper: { ...KEEPER, argv: ["sh", "-c", "echo mine"] } });
  expect((await post({ allow: "keeper", sha256 })).error?.code).toBe("COMMAND_NOT_ALLOWED");
  configure(repo, { keeper: KEEPER });
  expect((await post({ allow: "keeper", sha256 })).commands![0]!.allowed).toBe(true);

  const still = await serveRepo(repo, { noStart: true });
  expect((await still.refusal("agent.start", { command: "keeper", goal: "x" }))[1]).toBe("START_OFF");
  const open = await serveRepo(repo, { noToken: true });
  expect((await open.refusal("agent.start", { command: "keeper", goal: "x" }))[1]).toBe("START_OFF");
  // Behind the address of a proxy nobody sits at the machine, whichever way they came.
  const far = await serveRepo(repo, { publicUrl: "https://studio.example.org" });
  const other = await linked(far);
  const sent = { method: "POST", body: JSON.stringify(typed) };
  const answer = (await (await far.send("/api/operations/agent.start", sent, other)).json()) as {
    readonly error: { readonly code: string };
  };
  expect(answer.error.code).toBe("LOCAL_ONLY");
});

it("has no more agents at work than it may: the next start waits for the end of one, and a race takes what it needs", async () => {
  const wait = "echo $0 >> started.txt; while [ ! -e GATE/$0 ]; do sleep 0.1; done; echo $0 >> lamp.txt";
  const repo = harbour(
    { waiter: { argv: ["sh", "-c", wait.replaceAll("GATE", "/tmp"), "{goal}"], verify: ["true"] } },
    { parallel: 1 },
  );
  await repo.verbatim("agent", "commands", "--allow", "waiter");
  const server = await serveRepo(repo);
  const begin = async (goal: string, count = 1) => {
    const body = { operation: "agent.start", input: { command: "waiter", goal, count }, key: goal };
    return (await server.post("/api/tasks", body)).body["task_id"] as string;
  };
  const look = async (id: string) =>
    (await (await server.send(`/api/tasks/${id}`)).json()) as EndedTask & { readonly output?: { run_ids: string[] } };
  const until = async (id: string, state: string) => {
    for (;;) {
      const task = await look(id);
      if (task.state === state) return task;
      expect(["waiting", "running"]).toContain(task.state);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const [first, second] = [await begin("one"), await begin("two", 2)];
  const { output } = await until(first, "done");
  // Other calls do not wait for agents.
  const other = await server.task("ledger.verify", {}, "v");
  expect([other.state, (await look(second)).state]).toEqual(["done", "waiting"]);
  await server.call("agent.stop", { run: output!.run_ids[0]!, now: true });
  const race = (await until(second, "done")).output as unknown as { race_id: string; run_ids: readonly string[] };
  expect([/^[0-9a-f]{8}$/.test(race.race_id), race.run_ids.length]).toEqual([true, 2]);
  const { runs } = await server.call("agent.list", { limit: 10 });
  expect(
    runs
      .filter(({ goal }) => goal === "two")
      .map(({ run_id }) => run_id)
      .sort(),
  ).toEqual([...race.run_ids].sort());
  for (const id of race.run_ids) {
    for (;;) {
      const { status } = await server.post("/api/operations/agent.stop", { run: id, now: true });
      if (status === 200) break;
      const row = (await server.call("agent.list", { limit: 10 })).runs.find(({ run_id }) => run_id === id)!;
      if (!["preparing", "working", "capturing"].includes(row.outcome)) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await ended(server, race.run_ids);
  expect(existsSync(join(repo.root, "started.txt"))).toBe(false);
  expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("off\n");
});
