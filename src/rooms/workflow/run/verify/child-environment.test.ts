import { expect, it } from "vitest";
import { childEnvironment } from "./child-environment.ts";

it("a child has a short list of variables, what is allowed to it and what the run says", () => {
  const env = {
    PATH: "p",
    LC_ALL: "c",
    TOKEN: "secret",
    XLC_: "x",
    GIVEN: "g",
    HOME: undefined,
    VERBATIM_RUN: "other",
  };
  expect(childEnvironment(env, ["GIVEN", "ABSENT"], { VERBATIM_RUN: "r" })).toEqual({
    PATH: "p",
    LC_ALL: "c",
    GIVEN: "g",
    VERBATIM_RUN: "r",
  });
  expect(Object.keys(childEnvironment(env, [], {}))).toEqual(["PATH", "LC_ALL"]);
});
