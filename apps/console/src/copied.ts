import { useState } from 'preact/hooks';

/** Copies a text, and whether it was this one; undefined where the browser has no clipboard, as on a page without HTTPS. */
export function useCopied(
  of: string,
  onCopied?: () => void,
): readonly [isCopied: boolean, copy: (() => void) | undefined] {
  const [copied, setCopied] = useState<string | undefined>();
  const clipboard = (navigator as { readonly clipboard?: Clipboard }).clipboard;
  const copy = (): void =>
    void clipboard?.writeText(of).then(() => {
      setCopied(of);
      onCopied?.();
    });
  return [copied === of, clipboard && copy];
}
