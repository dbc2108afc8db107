import type { Store } from './store';

/**
 * A store each of whose calls is rejected after `seconds`: one that never answers holds neither the other tasks nor the end of
 * the loop. A call that answers later has erased what the next attempt finds erased. Of a store that is written as a class the
 * accessors are on its prototype, so that each member is named here.
 */
export function limited(store: Store, seconds: number): Store {
  const within = async <T>(act: () => Promise<T>): Promise<T> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = new Promise<never>((_, reject) => {
      const late = (): void => reject(new Error(`The store has not answered within ${seconds} seconds.`));
      timer = setTimeout(late, seconds * 1000).unref();
    });
    try {
      return await Promise.race([act(), end]);
    } finally {
      clearTimeout(timer);
    }
  };
  const { name, everywhere, keeps, marks } = store;
  return {
    name,
    ...(everywhere !== undefined && { everywhere }),
    ...(keeps !== undefined && { keeps }),
    count: (who) => within(() => store.count(who)),
    erase: (who) => within(() => store.erase(who)),
    ...(store.export !== undefined && {
      export: (who, room) => within(async () => store.export?.(who, room) ?? []),
    }),
    ...(marks !== undefined && {
      marks: {
        all: (list) => within(() => marks.all(list)),
        get: (list, name) => within(() => marks.get(list, name)),
        put: (list, name, note) => within(() => marks.put(list, name, note)),
        remove: (list, names) => within(() => marks.remove(list, names)),
      },
    }),
  };
}
