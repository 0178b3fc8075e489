import { describe, expect, it } from "vitest";
import { formatCanonical } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import { toFailure, toValues } from "./failure.ts";

describe("what a receipt keeps of an error", () => {
  it("is its code and values, without prose, absolute paths and times", () => {
    const error = new VerbatimError("CONTENT_STORE_CORRUPT", {
      message: "the payload is missing",
      where: "/home/mira/blobs/ab",
      details: {
        hash: "ab",
        at: "2025-01-02T03:04:05.000Z",
        path: "/home/mira/blobs/ab",
        windows: "C:\\blobs",
        home: "~/blobs",
        relative: "blobs/ab",
        message: "words",
        list: [1, "/etc", { fix: "words", line: 3 }],
      },
    });
    expect(toFailure(error)).toEqual({
      code: "CONTENT_STORE_CORRUPT",
      details: { hash: "ab", relative: "blobs/ab", list: [1, { line: 3 }] },
    });
  });

  it("always has a canonical form", () => {
    const odd = {
      nothing: undefined,
      infinite: Number.POSITIVE_INFINITY,
      fraction: 0.5,
      minusZero: -0,
      big: 2n ** 80n,
      whole: 2 ** 60,
      lone: "a\ud800",
      made: new Map([["a", 1]]),
      call: () => 1,
    };
    expect(formatCanonical(toValues(odd))).toBe(
      '{"big":1208925819614629174706176,"fraction":0.5,"lone":"a\\ufffd","made":{},"minusZero":-0.0,"whole":1.152921504606847e+18}',
    );
    expect(toValues(undefined)).toEqual({});
  });
});
