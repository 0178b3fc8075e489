/** Prints findings and makes the process fail when there are any; otherwise prints what was looked at. */
export function reportFindings(findings: readonly string[], looked: string): void {
  for (const finding of findings) console.error(finding);
  if (findings.length === 0) console.log(`ok: ${looked}`);
  else process.exitCode = 1;
}
