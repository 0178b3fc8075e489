export { dropStream, foldCase, foldName, foldPath, isGitName, isOwnName } from "./fold-path.ts";
export {
  findPathProblem,
  isRepoPath,
  isUnder,
  overlaps,
  parseRepoPath,
  type RepoPath,
  showPath,
} from "./repo-path.ts";
export { looksSecret } from "./secret-names.ts";
