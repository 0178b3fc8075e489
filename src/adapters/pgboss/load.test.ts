import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { ENGINE_SCHEMA } from "./install.ts";
import { loadEngine } from "./load.ts";

it("the queue that is not installed is ENGINE_MISSING, with the line that installs it; any other fault stays what it is", async () => {
  const absent = Object.assign(new Error("Cannot find package 'pg-boss'"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(loadEngine(() => Promise.reject(absent))).rejects.toMatchObject({
    code: "ENGINE_MISSING",
    exit: 4,
    fix: expect.stringContaining("npm install --save-exact pg-boss@12.35.0"),
  });
  const broken = new Error("it does not parse");
  await expect(loadEngine(() => Promise.reject(broken))).rejects.toBe(broken);
  expect(typeof (await loadEngine()).PgBoss).toBe("function");
});

it("the version of the queue's tables is that of the package which package.json names", () => {
  const { version, pgboss } = createRequire(import.meta.url)("pg-boss/package.json") as {
    readonly version: string;
    readonly pgboss: { readonly schema: number };
  };
  expect([version, pgboss.schema]).toEqual(["12.35.0", ENGINE_SCHEMA]);
});
