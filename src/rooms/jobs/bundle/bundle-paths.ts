import { VerbatimError } from "../../../core/errors/index.ts";
import type { BundleFiles, FileFacts } from "./bundle-files.ts";

type PathCode = "PATH_BACKSLASH" | "PATH_ABSOLUTE" | "PATH_TRAVERSAL" | "PATH_INVALID";

/** What is wrong with the path of an artifact (Bundle Protocol 7); nothing outside a bundle is ever opened. */
export function findPathProblems(path: string): PathCode[] {
  const codes: PathCode[] = [];
  if (path.includes("\\")) codes.push("PATH_BACKSLASH");
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) codes.push("PATH_ABSOLUTE");
  if (path.split("/").includes("..")) codes.push("PATH_TRAVERSAL");
  if (path === "" || path.includes("\0")) codes.push("PATH_INVALID");
  return codes;
}

/** Without the `.` and empty segments that default mode finds harmless. */
export function cleanPath(path: string): string {
  return path
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .join("/");
}

/** Why an artifact could not be read, as a code. */
export const ARTIFACT_READ_CODES = {
  missing: "ARTIFACT_MISSING",
  "not-regular": "ARTIFACT_NOT_REGULAR",
  unreadable: "ARTIFACT_UNREADABLE",
} as const;

export function toArtifactPath(artifactId: string): string {
  return `artifacts/${artifactId}.txt`;
}

/** What is at the path of an artifact. An invalid path holds nothing. */
export async function inspectArtifact(files: BundleFiles, path: string): Promise<FileFacts> {
  const clean = cleanPath(path);
  if (findPathProblems(path).length > 0 || clean === "") return { problem: "not-regular" };
  return files.inspect(clean);
}

/** The text of an artifact, for people. Nothing outside the bundle is read, and no link is followed. */
export async function readArtifact(files: BundleFiles, path: string): Promise<string> {
  const [refused] = findPathProblems(path);
  const facts = await inspectArtifact(files, path);
  const code = refused ?? ("problem" in facts ? ARTIFACT_READ_CODES[facts.problem] : null);
  if (code !== null) {
    throw new VerbatimError("FILE_UNREADABLE", {
      message: `the artifact cannot be read: ${code}`,
      where: path,
      fix: { cli: "See what is wrong: verbatim bundle verify", others: "Verify the bundle: that says what is wrong." },
      details: { code, path },
    });
  }
  return files.readText(cleanPath(path));
}
