import { lintStages, runStages } from "./stages.ts";

if (runStages(lintStages()) !== null) process.exitCode = 1;
