import { formatCanonical, toJson } from "../../../core/canonical/index.ts";
import {
  AGENT_CHANGE_PREDICATE,
  type AgentChangePredicate,
  STATEMENT_TYPE,
  toSubjects,
} from "../contracts/agent-change.ts";

/** The in-toto Statement about a commit of an agent's change, as canonical JSON. */
export function formatAgentStatement(commit: string, predicate: AgentChangePredicate): string {
  const subject = toSubjects(commit, predicate);
  return formatCanonical(toJson({ _type: STATEMENT_TYPE, subject, predicateType: AGENT_CHANGE_PREDICATE, predicate }));
}
