import { lintStages, runStages } from "./stages.ts";

if ((await runStages(lintStages())) !== null) process.exitCode = 1;
