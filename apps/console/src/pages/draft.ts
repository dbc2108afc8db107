import { useState } from 'preact/hooks';

/** What is stored with what was changed above it. Only what differs is changed. */
export function useDraft<T extends object>(stored: T) {
  const [given, setGiven] = useState<Partial<T>>({});
  const changed = Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name as keyof T]),
    ),
  ) as Partial<T>;
  return {
    values: { ...stored, ...given },
    changed,
    isChanged: Object.keys(changed).length > 0,
    set: (more: Partial<T>): void => setGiven((before) => ({ ...before, ...more })),
    discard: (): void => setGiven({}),
    /** What was sent is stored now. What was changed meanwhile stays. */
    settle: (sent: T): void =>
      setGiven(
        (before) =>
          Object.fromEntries(
            Object.entries(before).filter(([name, value]) => value !== sent[name as keyof T]),
          ) as Partial<T>,
      ),
  };
}
