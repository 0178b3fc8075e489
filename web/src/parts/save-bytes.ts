/** Gives bytes to the downloads of the browser. They were fetched with the session, which no address carries. */
export function saveBytes(bytes: ArrayBuffer, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  // The browser has taken it by then; without this it would be kept as long as the page.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
