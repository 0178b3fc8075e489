import { expect, it } from "vitest";
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
