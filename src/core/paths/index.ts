export { dropStream, foldCase, foldName, foldPath, isGitName, isOwnName } from "./fold-path.ts";
export { compileGlob, type Glob } from "./glob.ts";
export { compilePathPattern, type PathPattern } from "./path-pattern.ts";
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
