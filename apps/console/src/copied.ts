import { useState } from 'preact/hooks';

/** Copies a text, and whether it was; undefined where the browser has no clipboard, as on a page without HTTPS. */
export function useCopied(): readonly [isCopied: boolean, copy: ((text: string) => void) | undefined] {
  const [isCopied, setCopied] = useState(false);
  const clipboard = (navigator as { readonly clipboard?: Clipboard }).clipboard;
  const copy = (text: string): void => void clipboard?.writeText(text).then(() => setCopied(true));
  return [isCopied, clipboard && copy];
}
