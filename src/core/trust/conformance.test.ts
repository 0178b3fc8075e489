import { describeHallVectors } from "../../../test/support/hall-vectors.ts";
import { TRUST_AREAS } from "./conformance.ts";

describeHallVectors("trust", TRUST_AREAS);
