import { describeHallVectors } from "../../../test/support/hall-vectors.ts";
import { LEDGER_AREAS } from "./conformance.ts";

describeHallVectors("the ledger", LEDGER_AREAS);
