import { describe, expect, it } from "vitest";
import { looksSecret } from "./secret-names.ts";

describe("names that look like secrets", () => {
  it.each([
    ".env",
    "app/.ENV",
    ".env.local",
    ".env.example.bak",
    "home/.netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "keys/id_rsa",
    "id_dsa",
    "id_ecdsa",
    "ID_ED25519",
    "credentials.json",
    "client_secret.json",
    "server.pem",
    "a/b.KEY",
    "x.p12",
    "x.pfx",
    "x.jks",
    "x.keystore",
    "x.kdbx",
    "x.ppk",
    ".aws/credentials",
    "home/.aws/credentials",
    "home/.docker/config.json",
    ".kube/config",
  ])("%s does", (path) => {
    expect(looksSecret(path)).toBe(true);
  });

  it.each([
    "README.md",
    ".env.example",
    "app/.env.sample",
    ".env.template",
    ".env.dist",
    ".environment",
    "env",
    "id_rsa.pub",
    "credentials.json.md",
    "aws/credentials",
    "my.aws/credentials",
    "config.json",
    "docker/config.json",
    "monkey",
    "pem",
    ".env/readme.md",
  ])("%s does not", (path) => {
    expect(looksSecret(path)).toBe(false);
  });

  it.each([
    ["*token*", "my-Token-file.txt", true],
    ["*.secret", "a/x.SECRET", true],
    ["vault*", "vault.yml", true],
    ["vault*", "my-vault.yml", false],
    ["*token*", "a/broken", false],
    ["*.secret", "a/xsecret", false],
    ["va*", "vb", false],
    ["a*", "b", false],
    ["exact", "a/exact", true],
    ["exact", "a/exactly", false],
    ["*", "anything", true],
    ["vault*", "vault/readme.md", false],
  ])("the extra pattern %s on %s: %s", (pattern, path, expected) => {
    expect(looksSecret(path, [pattern])).toBe(expected);
  });
});
