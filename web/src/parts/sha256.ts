/** SHA-256 of bytes, computed by the browser; null where it has no such function because the page came without TLS. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string | null> {
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto };
  if (subtle === undefined) return null;
  const hash = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
