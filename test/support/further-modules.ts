import { EVENT_TYPES } from '@app/audit';
import { FURTHER_MODULES } from '../../modules';

// What the modules of a team bring, for the tests that list what Lethe has. Lethe itself has none of these modules.

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const metadataOf = (name: string, of: object): readonly unknown[] =>
  (Reflect.getMetadata(name, of) as readonly unknown[] | undefined) ?? [];

/** The topics of their routes (`@Topic`). */
const TOPICS = FURTHER_MODULES.flatMap((each) => metadataOf('controllers', each)).flatMap((controller) =>
  metadataOf('swagger/apiUseTags', controller as object),
);

/** The paths of an OpenAPI document without the operations of these modules. */
export function ownPaths<Document extends object>(paths: Document): Document {
  const own = Object.entries(paths as Paths).map(([path, item]) => {
    const operations = Object.entries(item).filter(([, operation]) => {
      const { tags = [] } = operation as { readonly tags?: readonly string[] };
      return !tags.some((tag) => TOPICS.includes(tag));
    });
    return [path, Object.fromEntries(operations)] as const;
  });
  return Object.fromEntries(own.filter(([, item]) => Object.keys(item).length > 0)) as Document;
}

/** What is found beside Lethe's own is of these modules: there is nothing where there is no such module. */
export function expectOfModules(found: readonly string[]): void {
  if (FURTHER_MODULES.length === 0) expect(found).toEqual([]);
}

/** An answer without the event types of these modules, which messages list and statistics count. */
export function withoutFurtherTypes(answer: string): string {
  const further = EVENT_TYPES.filter((type) => type.includes('.'));
  return further.reduce(
    (rest, type) => rest.replaceAll(`, ${type}`, '').replaceAll(`,"${type}":0`, ''),
    answer,
  );
}
