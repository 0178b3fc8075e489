import { describe, expect, it } from "vitest";
import { findSecret } from "./secret-patterns.ts";

// Put together here, so that no scanner takes this file for a leak.
const some = (start: string, length: number, letters = "aB3dE6gH") =>
  start + letters.repeat(Math.ceil(length / letters.length)).slice(0, length);
const CAPITALS = "ABCD2345";
const jwt = `${some("eyJ", 20)}.${some("eyJ", 30)}.${some("", 40)}`;

describe("credentials in added lines", () => {
  it.each([
    ["anthropic-key", some("sk-ant-", 40)],
    ["openai-key", some("sk-", 48)],
    ["openai-key", some("sk-proj-", 48)],
    ["google-key", some("AIza", 35)],
    ["github-token", some("ghp_", 36)],
    ["github-token", some("ghs_", 36)],
    ["gitlab-token", some("glpat-", 20)],
    ["slack-token", some("xoxb-", 24)],
    ["aws-key", some("AKIA", 16, CAPITALS)],
    ["npm-token", some("npm_", 36)],
    ["jwt", jwt],
    ["authorization", `Authorization: Bearer ${some("", 20)}`],
    ["authorization", `"authorization": "Basic ${some("", 20)}="`],
    ["authorization", `headers.Authorization = 'token ${some("", 20)}'`],
    ["private-key", ["-----BEGIN", "RSA PRIVATE KEY-----"].join(" ")],
    ["private-key", ["-----BEGIN", "OPENSSH PRIVATE KEY-----"].join(" ")],
    ["private-key", ["-----BEGIN", "PRIVATE KEY-----"].join(" ")],
  ])("%s is found and not shown", (name, secret) => {
    for (const line of [secret, `  key: "${secret}",`, `x=${secret};y`]) {
      const found = findSecret(line);
      expect(found?.name).toBe(name);
      expect(found?.shown).toContain("[redacted:");
      expect(found?.shown).not.toContain(secret.slice(-12));
    }
  });

  it.each([
    ["a name in kebab case", "class sk-folding-cube-container-large-and-round"],
    ["a word that ends like a prefix", some("task-", 48)],
    ["a key that is too short", "sk-ant-abc"],
    ["another service", some("AIzb", 35)],
    ["a short token", some("ghp_", 35)],
    ["an unknown letter", some("ghx_", 36)],
    ["a short token of gitlab", some("glpat-", 19)],
    ["slack without digits", "xoxb-your-token-here"],
    ["a longer word of capitals", some("AKIA", 17, CAPITALS)],
    ["a name of npm", "npm_config_registry_and_a_long_name_with_more"],
    ["two parts of a token", jwt.split(".").slice(0, 2).join(".")],
    ["a variable", "Authorization: Bearer ${" + "token}"],
    ["a placeholder", "Authorization: Bearer YOUR_TOKEN_GOES_HERE"],
    ["a public key", ["-----BEGIN", "PUBLIC KEY-----"].join(" ")],
    ["a certificate", ["-----BEGIN", "CERTIFICATE-----"].join(" ")],
  ])("%s is none", (_, line) => {
    expect(findSecret(line)).toBeNull();
  });

  it("shows a long line around the place, without control characters", () => {
    const found = findSecret(`${"x ".repeat(5000)}\u001b[31m ${some("npm_", 36)} ${"y ".repeat(5000)}`);
    expect(found?.shown.length).toBeLessThan(170);
    expect(found?.shown).toMatch(/\[31m \[redacted:npm-token\] y/);
    expect(found?.shown).not.toContain("\u001b");
  });

  it("redacts every credential of a line", () => {
    const line = `${some("npm_", 36)} and ${some("ghp_", 36)}`;
    expect(findSecret(line)?.shown).toBe("[redacted:npm-token] and [redacted:github-token]");
  });

  it("reads a very long line that begins a key again and again", () => {
    expect(findSecret("sk-".repeat(100_000))).toBeNull();
    expect(findSecret("eyJ".repeat(100_000))).toBeNull();
  });
});
