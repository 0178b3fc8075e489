import { utf8Length } from "../../../core/canonical/index.ts";
import type { Tokenizer } from "../ports.ts";

/** The estimate used when a model brings no tokenizer: high for English, close for CJK. */
export const BYTES_BY_THREE: Tokenizer = {
  name: "utf8-bytes/3",
  count: (text) => Math.ceil(utf8Length(text) / 3),
};
