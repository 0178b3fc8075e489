// Guards: nothing that is recorded of a run holds a secret that Verbatim could know of.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { makeAgentRepo } from "../support/agent-repo.ts";
import { runHere } from "../support/cli-in-process.ts";

/** Every file below a folder that has a text in it, or its base64 at any of the three places it can begin. */
function findSecret(folder: string, secret: string): string[] {
  const bytes = Buffer.from(secret);
  const spellings = [0, 1, 2].map((shift) => {
    const whole = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    // The first and the last characters also depend on what stands beside the text.
    return whole.slice(shift === 0 ? 0 : shift + 1, -1);
  });
  const patterns = [secret, ...spellings].flatMap((text) => ["-e", text]);
  try {
    const found = execFileSync("grep", ["-rlaF", ...patterns, folder], { encoding: "utf8" });
    return found.trim().split("\n");
  } catch {
    return [];
  }
}

it("records what an agent and a verify command print without the values of variables, and shows them all the same", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("check.sh", 'echo "checked with $LAMP_TOKEN"; echo "and $LAMP_TOKEN" >&2; exit 1\n');
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const secret = "gull-rock-7Hq2-token";
  // In pieces: what the user typed is recorded as it was typed.
  const script =
    'rest=7Hq2-token; printf "mine is gull-rock-"; sleep 0.2; echo "$rest"; echo "gull-rock-$rest" >&2; echo on > lamp.txt';
  const verify = `printf 'tested with %s-7Hq2-token' gull-rock; exit 1`;
  const args = ["agent", "--goal", "x", "--verify-sh", verify, "--", "sh", "-c", script];
  const { stdout, stderr } = await runHere(args, { cwd: repo.root, env: { ...repo.env, LAMP_TOKEN: secret } });
  // Whoever watches sees what the agent prints.
  expect(stdout + stderr).toContain(`mine is ${secret}`);
  expect(findSecret(repo.base, secret).filter((file) => !file.endsWith("/check.sh"))).toEqual([]);
  const { stdout: logs } = await repo.verbatim("agent", "logs", "@");
  expect(logs).toContain("mine is [redacted:LAMP_TOKEN]");
  const { stdout: verified } = await repo.verbatim("agent", "logs", "@", "--verify");
  expect(verified).toContain("tested with [redacted:LAMP_TOKEN]");
});

it("takes out what the configuration names, from an agent's output and from a verify command's", async () => {
  const repo = makeAgentRepo();
  repo.write("lamp.txt", "off\n");
  repo.write("verbatim.config.json", JSON.stringify({ agent: { redact: { patterns: ["harbour_*", "Gull-Rock"] } } }));
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const verify = "printf 'checked harbour'; echo _0123456789; exit 1";
  const script = "printf 'with harbour'; echo '_abcdefgh99 at Gull-Rock, harbour_x'; echo on > lamp.txt";
  await repo.verbatim("agent", "--goal", "x", "--verify-sh", verify, "--", "sh", "-c", script);
  expect((await repo.verbatim("agent", "logs", "@")).stdout).toBe(
    "with [redacted:configured] at [redacted:configured], harbour_x\n",
  );
  expect((await repo.verbatim("agent", "logs", "@", "--verify")).stdout).toContain("checked [redacted:configured]");
});

it("takes a key of many lines out of what failed commands said, a set-up's too", async () => {
  const repo = makeAgentRepo();
  const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
  const [begin, end] = ["BEGIN", "END"].map((word) => `-----${word} PRIVATE KEY-----`);
  repo.write("lamp.txt", "off\n");
  // In pieces: the script itself holds no key.
  repo.write(
    "say.sh",
    `echo 'Error: no lamp'; echo '${begin}'; printf 'MIIEvQIBADANBgkq'; echo 'hkiG9w0BAQEFAASC'; echo '${end}'; exit 1\n`,
  );
  repo.git("add", ".");
  repo.git("commit", "-qm", "first");
  const flags = ["agent", "--goal", "x", "--verify", "sh say.sh"];
  const light = ["--", "sh", "-c", "echo on > lamp.txt"];
  for (const setup of [[], ["--setup", "sh say.sh"]]) {
    const { stdout } = await repo.verbatim(...flags, ...setup, ...light);
    expect(stdout).toMatch(/Error: no lamp\n +\[redacted:/);
    expect([stdout.includes(body), findSecret(repo.base, body)]).toEqual([false, []]);
  }
});
