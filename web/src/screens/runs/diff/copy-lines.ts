import type { ClipboardEvent } from "react";

/** Puts the lines on the clipboard as they are in the file: without numbers and signs, and with the characters behind the boxes. */
export function copyLines(event: ClipboardEvent): void {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0 || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const part = range.cloneContents();
  for (const box of part.querySelectorAll<HTMLElement>("[data-char]")) {
    box.textContent = String.fromCodePoint(Number(box.dataset["char"]));
  }
  const isRight = elementOf(range.startContainer)?.closest("[data-side=new]") != null;
  // In two columns the one where the selection began.
  const unwanted = `[data-side=${isRight ? "old" : "new"}]`;
  const texts = [...part.querySelectorAll("bdi")].filter((text) => text.closest(unwanted) === null);
  const text = texts.length === 0 ? (part.textContent ?? "") : texts.map((one) => one.textContent ?? "").join("\n");
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
}

function elementOf(node: Node): Element | null {
  return node instanceof Element ? node : node.parentElement;
}
