/** Kept from visit to visit, or for one tab. */
type Place = 'localStorage' | 'sessionStorage';

/** What the browser keeps under a name; null where it lets no page keep anything. */
export function keptHere(name: string, place: Place = 'localStorage'): string | null {
  try {
    return globalThis[place].getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or with null none, where the browser lets the page. */
export function keepHere(name: string, value: string | null, place: Place = 'localStorage'): void {
  try {
    if (value === null) globalThis[place].removeItem(name);
    else globalThis[place].setItem(name, value);
  } catch {
    // What was chosen holds as long as the page is open.
  }
}
