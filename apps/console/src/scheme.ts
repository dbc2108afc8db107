import { keepHere, keptHere } from './kept-here';

/** The colours of the page: of the system, or of a choice that the browser keeps. */
export const SCHEMES = ['system', 'light', 'dark'] as const;
export type Scheme = (typeof SCHEMES)[number];

const KEPT = 'lethe-scheme';
const root = document.documentElement;

export function chosenScheme(): Scheme {
  const kept = keptHere(KEPT);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Draws the page in the colours of `scheme`. Plots listen to the event, since they draw with the colours of their time. */
export function showScheme(scheme: Scheme): void {
  if (scheme === 'system') delete root.dataset['scheme'];
  else root.dataset['scheme'] = scheme;
  root.dispatchEvent(new Event('scheme'));
}

export function chooseScheme(scheme: Scheme): void {
  keepHere(KEPT, scheme);
  showScheme(scheme);
}

/** Calls `redraw` at every change of the colours, by the system or by the reader. @returns what ends it */
export function onScheme(redraw: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', redraw);
  root.addEventListener('scheme', redraw);
  return () => {
    system.removeEventListener('change', redraw);
    root.removeEventListener('scheme', redraw);
  };
}
