import { Check, Copy as CopyIcon } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { words } from "../words/words.ts";
import { Button } from "./Button.tsx";

/** Puts exactly this text on the clipboard. Says so in its own place; nothing pops up. */
export function CopyButton(props: {
  readonly text: string;
  readonly label: string;
  readonly children?: ReactNode;
}): ReactNode {
  const [copied, setCopied] = useState(false);
  const timer = useRef(0);
  const copy = async () => {
    await copyText(props.text);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setCopied(false), 2000);
  };
  const Icon = copied ? Check : CopyIcon;
  return (
    <Button kind="quiet" aria-label={copied ? words.copy.copied : props.label} onPress={() => void copy()}>
      <Icon size={16} strokeWidth={1.75} aria-hidden />
      {props.children}
    </Button>
  );
}

/** Browsers give a page without TLS no clipboard; a selected field can still be copied there. */
export async function copyText(text: string): Promise<void> {
  const clipboard = (navigator as { readonly clipboard?: Clipboard }).clipboard;
  if (clipboard !== undefined) return clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
