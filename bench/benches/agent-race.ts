import { NOTES, openAgentCorpus } from "../agent-corpus.ts";
import type { Bench } from "../harness.ts";

const WAITS = `sleep 3; echo more >> ${NOTES}`;

export const agentRace: Bench = {
  name: "agent-race",
  what: "a race of three agents that wait three seconds, with the verification of their one change",
  baseline: "one such run with its verification",
  corpus: "N small files in folders of a hundred, one commit",
  sizes: [5_000],
  goal: { kind: "time", atMost: 1.2 },
  maxRounds: 3,
  onAsking: true,
  async prepare(size) {
    const corpus = await openAgentCorpus(size);
    const asked = { goal: "more", verify: ["true"] };
    const command = ["sh", "-c", WAITS];
    return {
      async ours() {
        const { members } = await corpus.app.call("agent.race", { ...asked, count: 3, command });
        if (members.some(({ outcome }) => outcome !== "verified")) throw new Error("a member did not get there");
      },
      baseline: () => corpus.app.call("agent.run", { ...asked, command }),
      close: () => corpus.close(),
    };
  },
};
