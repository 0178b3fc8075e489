import { expect, it } from "vitest";
import type { AgentConfig } from "./agent.ts";
import { mergeAgentConfig, type OtherConfig } from "./agent-trust.ts";

const REPOSITORY: AgentConfig = {
  profile: "lamp",
  env: { pass: ["AWS_*"], set: { LD_PRELOAD: "./x.so" } },
  verify: { commands: ["npm test"] },
  keep: ["~/.ssh"],
  profiles: { lamp: { title: "Lamp", env: { pass: ["*"] }, login: [] }, buoy: { title: "Buoy" } },
};

it("uses nothing of a repository that opens something, and names each key with the flag that does the same", () => {
  const { config, untrusted } = mergeAgentConfig({ env: { pass: ["MINE"] } }, REPOSITORY, false);
  expect(untrusted).toEqual([
    { key: "agent.env.pass", flag: "--env AWS_*" },
    { key: "agent.env.set", flag: "--env LD_PRELOAD=VALUE" },
    { key: "agent.keep", flag: "--keep ~/.ssh" },
    { key: "agent.profiles.lamp.env", flag: "--env NAME" },
    { key: "agent.profiles.lamp.login", flag: "--keep PATH" },
  ]);
  expect(config).toMatchObject({
    profile: "lamp",
    env: { pass: ["MINE"] },
    verify: { commands: ["npm test"] },
    profiles: { lamp: { title: "Lamp" }, buoy: { title: "Buoy" } },
  });
  expect(config.keep).toBeUndefined();
  expect(config.env?.set).toEqual({});
  expect(Object.keys(config.profiles?.["lamp"] ?? {})).toEqual(["title"]);
});

it("joins what the user and a trusted repository say", () => {
  const user = { trust: ["/r"], env: { pass: ["MINE"] }, keep: ["/k"], policy: { permit: ["a"], max_files: 3 } };
  const { config, untrusted } = mergeAgentConfig(user, { ...REPOSITORY, policy: { permit: ["b"] } }, true);
  expect(untrusted).toEqual([]);
  expect(config).toMatchObject({
    env: { pass: ["MINE", "AWS_*"], set: { LD_PRELOAD: "./x.so" } },
    keep: ["/k", "~/.ssh"],
    policy: { permit: ["a", "b"], max_files: 3 },
  });
  expect(config).not.toHaveProperty("trust");
});

it("leaves an agent never more of the network than its user does", () => {
  const network = (user: "inherit" | "allow" | "none" | undefined, own: "inherit" | "allow" | "none" | undefined) =>
    mergeAgentConfig(user === undefined ? {} : { network: user }, own === undefined ? {} : { network: own }, true)
      .config.network;
  expect([network("allow", "inherit"), network("none", "allow"), network("inherit", "none")]).toEqual([
    "allow",
    "none",
    "none",
  ]);
  expect([network(undefined, "allow"), network("allow", undefined), network(undefined, undefined)]).toEqual([
    "allow",
    "allow",
    undefined,
  ]);
});

it("takes hosts of a repository only where the user does not limit the network, or trusts it", () => {
  const own: AgentConfig = { hosts: ["lamp.example", { host: "pier.example", private: true }] };
  const limited = mergeAgentConfig({ network: "allow", hosts: ["mine.example"] }, own, false);
  expect(limited.config.hosts).toEqual(["mine.example"]);
  expect(limited.untrusted).toEqual([{ key: "agent.hosts", flag: "--host lamp.example" }]);
  expect(mergeAgentConfig({}, own, false)).toMatchObject({ config: { hosts: own.hosts }, untrusted: [] });
  expect(mergeAgentConfig({ network: "allow", hosts: ["mine.example"] }, own, true).config.hosts).toHaveLength(3);
});

it("lets an agent never use more than its user allows, whatever a repository says", () => {
  const user = { caps: { memory: "8G", processes: 100 } };
  const own: AgentConfig = { caps: { memory: "16GB", processes: 50, disk: "5GB" } };
  const merged = mergeAgentConfig(user, own, true);
  expect(merged.config.caps).toEqual({ memory: "8G", processes: 50, disk: "5GB" });
  expect(merged.caps_at_most).toEqual([]);
  // What only the repository says may lower what everybody gets.
  expect(mergeAgentConfig(user, own, false)).toMatchObject({
    config: { caps: { memory: "8G", processes: 50, disk: "5GB" } },
    caps_at_most: ["disk"],
    untrusted: [],
  });
  // 8GB are less than 8G.
  expect(mergeAgentConfig(user, { caps: { memory: "8GB" } }, false).config.caps?.memory).toBe("8GB");
  expect(mergeAgentConfig(user, { caps: { memory: 8 * 1024 ** 3 + 1 } }, false).config.caps?.memory).toBe("8G");
  expect(mergeAgentConfig({}, {}, false)).toMatchObject({ config: {}, caps_at_most: [] });
});

it("lets no repository have changes applied that nobody was asked about", () => {
  const refused = mergeAgentConfig({}, { apply: "auto" }, false);
  expect(refused).toMatchObject({ config: {}, untrusted: [{ key: "agent.apply", flag: "--apply auto" }] });
  expect(refused.config.apply).toBeUndefined();
  expect(mergeAgentConfig({ apply: "auto" }, { apply: "never" }, false)).toMatchObject({
    config: { apply: "never" },
    untrusted: [],
  });
  expect(mergeAgentConfig({ apply: "ask" }, { apply: "auto" }, true).config.apply).toBe("auto");
});

it("lets no repository choose whose key and login a command gets, or take the guard away", () => {
  const own: AgentConfig = {
    profile: "claude",
    profiles: { buoy: { title: "Buoy", network: { hosts: ["pier.example"] } } },
  };
  const others: OtherConfig = {
    catalytic: { guard: "audit" },
    workflow: { verify: { isolation: "worktree", env_allow: ["LAMP_KEY"] } },
  };
  const { config, untrusted } = mergeAgentConfig({ network: "allow" }, own, false, others);
  expect(untrusted).toEqual([
    { key: "agent.profile", flag: "--profile claude" },
    { key: "agent.profiles.buoy.network", flag: "--host NAME" },
    { key: "catalytic.guard", flag: "--guard audit" },
    { key: "workflow.verify.isolation", flag: "--guard audit" },
    { key: "workflow.verify.env_allow", flag: '--verify-sh "LAMP_KEY=VALUE CMD"' },
  ]);
  expect([config.profile, config.profiles]).toEqual([undefined, { buoy: { title: "Buoy" } }]);
  expect(mergeAgentConfig({ network: "allow" }, own, true, others)).toMatchObject({ config: own, untrusted: [] });
  // Its own profile has neither key nor login, and hosts are its own affair where the user does not limit them.
  expect(mergeAgentConfig({}, { ...own, profile: "buoy" }, false)).toMatchObject({
    config: { ...own, profile: "buoy" },
    untrusted: [],
  });
  const stricter: OtherConfig = { catalytic: { guard: "require" }, workflow: { verify: { isolation: "catalytic" } } };
  expect(mergeAgentConfig({}, { profile: "none" }, false, stricter)).toMatchObject({
    config: { profile: "none" },
    untrusted: [],
  });
});

it("lets a repository lower what a run may cost, keep more of its runs, and not write into the user's history", () => {
  const user = { max_usd: 2, retention: { keep_runs: 10 } };
  const own: AgentConfig = { max_usd: 5, sessions: "home", retention: { keep_runs: 1, keep_days: 90 } };
  const { config, untrusted } = mergeAgentConfig(user, own, false);
  expect(untrusted).toEqual([{ key: "agent.sessions", flag: "--keep PATH" }]);
  expect([config.max_usd, config.sessions]).toEqual([2, undefined]);
  expect(config.retention).toEqual({ keep_runs: 10, keep_days: 90, max_bytes: 2_000_000_000 });
  const trusted = mergeAgentConfig(user, { ...own, max_usd: 1 }, true).config;
  expect([trusted.max_usd, trusted.sessions, trusted.retention]).toEqual([1, "home", own.retention]);
});
