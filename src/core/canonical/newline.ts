/** Folds line ends: CRLF and lone CR become LF. Everything else stays. */
export function foldLineEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
