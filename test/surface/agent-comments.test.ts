// Comments on the lines of a change, as a screen leaves them: kept, quoted, taken back, and sent to the agent byte for byte as shown.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentRepo, makeAgentRepo } from "../support/agent-repo.ts";
import { serveRepo } from "../support/agent-server.ts";

function makeRepo(): AgentRepo {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "one\ntwo\nthree\n");
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  return repo;
}

const AGENT =
  'if [ -e "$VERBATIM_FEEDBACK" ]; then cp "$VERBATIM_FEEDBACK" told.txt; else sed -i s/two/2/ lamp.txt; fi';

describe("comments on a change", () => {
  it("are kept with what they quote, and an agent that goes on is told exactly what was shown", async () => {
    const repo = makeRepo();
    const { summary } = await repo.agent(["--verify", "true"], ["sh", "-c", AGENT]);
    const run = summary.run_id;
    const server = await serveRepo(repo);
    const place = { path: "lamp.txt", side: "result" as const, from: 2, to: 3 };
    const first = await server.call("agent.comment", { run, at: place, text: "Write the number out." });
    const second = await server.call("agent.comment", {
      run,
      at: { path: "lamp.txt", side: "base" },
      text: "Gone soon.",
    });
    expect([first.quote, second.quote]).toEqual([["2", "three"], []]);
    await server.call("agent.comment-withdraw", { run, id: second.id });
    const { comments } = await server.call("agent.show", { run });
    expect(comments.map(({ id, text, withdrawn_at, sent }) => [id, text, withdrawn_at !== null, sent])).toEqual([
      [first.id, "Write the number out.", false, []],
      [second.id, "Gone soon.", true, []],
    ]);

    const asked = { run, comments: [first.id], note: "Almost." };
    const { text, sha256 } = await server.call("agent.feedback", asked);
    expect(text).toContain("Write the number out.");
    expect(text).not.toContain("Gone soon.");
    expect(sha256).toBe(createHash("sha256").update(text!).digest("hex"));
    // Who was shown one text never sends another: the note is not the one that was shown.
    const other = { ...asked, note: "Almost!", feedback_sha256: sha256! };
    expect((await server.refusal("agent.continue", other)).slice(1)).toEqual(["FEEDBACK_CHANGED", "/feedback_sha256"]);
    expect((await server.call("agent.show", { run })).attempts).toHaveLength(1);
    await server.call("agent.continue", { ...asked, feedback_sha256: sha256! });
    expect((await repo.verbatim("agent", "wait", run)).exit).toBe(0);
    const after = await server.call("agent.show", { run });
    expect(after.attempts.map(({ feedback }) => feedback?.text ?? null)).toEqual([null, text]);
    expect(after.comments[0]!.sent).toEqual([2]);
    expect(readFileSync(join(summary.run_dir, "agent/feedback/01.md"), "utf8")).toBe(text);
    expect((await repo.verbatim("agent", "apply", run, "--yes")).exit).toBe(0);
    expect(readFileSync(join(repo.root, "told.txt"), "utf8")).toBe(text);
    expect(readFileSync(join(repo.root, "lamp.txt"), "utf8")).toBe("one\n2\nthree\n");
  });

  it("that are not there, were taken back or stand nowhere are refused, and nothing is written", async () => {
    const repo = makeRepo();
    const { summary } = await repo.agent(["--verify", "true"], ["sh", "-c", AGENT]);
    const run = summary.run_id;
    const server = await serveRepo(repo);
    const at = { path: "lamp.txt", side: "result" as const, from: 1 };
    const { id } = await server.call("agent.comment", { run, at, text: "Hm." });
    await server.call("agent.comment-withdraw", { run, id });
    const before = (await server.call("agent.show", { run })).timeline.length;
    const unknown = [404, "COMMENT_UNKNOWN"];
    const refused = async (operation: string, input: object) => (await server.refusal(operation, input)).slice(0, 2);
    expect(await refused("agent.comment-withdraw", { run, id: "c_none" })).toEqual(unknown);
    expect(await refused("agent.feedback", { run, comments: ["c_none"] })).toEqual(unknown);
    expect(await refused("agent.feedback", { run, comments: [id] })).toEqual(unknown);
    expect(await refused("agent.continue", { run, comments: [id] })).toEqual(unknown);
    const nowhere = [400, "SELECTION_INVALID"];
    for (const place of [{ from: 9 }, { from: 3, to: 2 }, { path: "other.txt" }, { candidate: 7 }]) {
      expect(await refused("agent.comment", { run, at: { ...at, ...place }, text: "x" })).toEqual(nowhere);
    }
    // Taking it back a second time changes nothing.
    expect((await server.call("agent.comment-withdraw", { run, id })).withdrawn_at).not.toBeNull();
    expect((await server.call("agent.show", { run })).timeline).toHaveLength(before);
  });
});
