import { describe, expect, it } from "vitest";
import { compileMasks, readAssignments } from "./masks.ts";

describe("the files of a repository that are hidden", () => {
  const { isHidden, isSuspect } = compileMasks({
    secret: ["!*.pem", "vault/"],
    add: ["*.tok", "/deploy/a.json"],
    show: [".env.ci"],
  });

  it.each([
    ".env",
    "a/b/.ENV",
    ".env.local",
    "keys/x.pem",
    "x.Key",
    "id_rsa",
    "conf/.kube/config",
    ".aws/credentials",
    "sub/.ssh/known_hosts",
    "service-account-7.json",
    "vault/any",
    "a/b.tok",
    "deploy/a.json",
    // A name that some file systems take for .env.
    ".e\u200cnv",
  ])("are those whose name says so: %s", (path) => {
    expect(isHidden(path)).toBe(true);
    // What is not even suspected is never asked about, so some name on the way has to be.
    expect(path.split("/").some(isSuspect)).toBe(true);
  });

  it.each([".env.example", ".env.sample", ".env.ci", "env", "src/keys.ts", "monkey", "kube/config", "a/deploy/a.json"])(
    "and no others: %s",
    (path) => expect(isHidden(path)).toBe(false),
  );
});

it("reads what files assign, and nothing else of them", () => {
  const text = [
    "# KEY=comment",
    "LAMP_KEY=one",
    'export LAMP_TOKEN="two # not a comment"',
    "aws_secret_access_key = three # a comment",
    "//registry.example/:_authToken=five",
    "'QUOTED'='four'",
    "EMPTY=",
    "no assignment",
  ].join("\n");
  expect(readAssignments(text)).toEqual([
    { name: "LAMP_KEY", value: "one" },
    { name: "LAMP_TOKEN", value: "two # not a comment" },
    { name: "aws_secret_access_key", value: "three" },
    { name: "_authToken", value: "five" },
    { name: "QUOTED", value: "four" },
  ]);
});
