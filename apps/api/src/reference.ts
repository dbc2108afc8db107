import { type Turns, version } from '@app/kernel';
import { escaped } from '@app/pages';
import { docsPage, type MadeFile } from './docs-page';
import { preformatted, renderer, table } from './markdown';
import { code, type Schema, shapeId, Shapes } from './shapes';

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Content>> }>
  >;
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[];
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** What the page shows of an OpenAPI document. */
export interface Documented {
  readonly info: { readonly title: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Paths;
  readonly webhooks?: Paths;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/**
 * Finds operations and shapes by all words of the search, in their whole text, and opens the one that an address or a link
 * names: where the search hides it, the search ends. The page is complete without it.
 */
export const REFERENCE_SCRIPT = `const field = document.getElementById('search');
const found = document.getElementById('found');
const entries = [...document.querySelectorAll('section > details')].map((details) => ({
  details, text: details.textContent.toLowerCase(),
}));
const open = () => {
  const named = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (named && named.closest('[hidden]')) {
    field.value = '';
    search();
  }
  for (let at = named; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  if (named) named.scrollIntoView();
};
const search = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let count = 0;
  for (const { details, text } of entries) {
    details.hidden = !words.every((word) => text.includes(word));
    if (!details.hidden) count += 1;
  }
  for (const section of document.querySelectorAll('section'))
    section.hidden = !section.querySelector(':scope > details:not([hidden])');
  found.textContent = words.length === 0 ? '' : count + ' of ' + entries.length + ' entries';
};
field.closest('form').hidden = false;
field.addEventListener('input', search);
field.closest('form').addEventListener('submit', (event) => event.preventDefault());
addEventListener('hashchange', open);
// A link to where the address leads already is no change of it.
addEventListener('click', ({ target }) => { if (target.hash === location.hash) open(); });
search();
open();
`;

const SEARCH = `<form role="search" hidden><label class="search">Search in operations, fields and shapes
<input type="search" id="search" autocomplete="off" /></label><p role="status" id="found"></p></form>`;

const prose = renderer((address) => (/^(https:|\/)/.test(address) ? address.replace(/^\//, '') : undefined));

/**
 * The page at `/docs`: the document of the interface for people, by topic, with a link to each operation and shape. It is made in
 * turns of the event loop, an operation or shape in each.
 */
export async function referencePage(
  document: Documented,
  links: Readonly<Record<string, string>>,
  turns: Turns,
): Promise<MadeFile> {
  const shapes = new Shapes(document.components?.schemas ?? {}, prose);
  const topics = new Map(
    (document.tags ?? []).map(({ name, description }) => [name, sectionHead(name, description)]),
  );
  for (const entry of operationsOf(document)) {
    await turns.next();
    const section = topics.get(entry.topic) ?? sectionHead(entry.topic);
    topics.set(entry.topic, `${section}${operationEntry(entry, shapes)}\n`);
  }
  let named = '';
  for (const [name, schema] of Object.entries(shapes.named)) {
    await turns.next();
    named += `<details><summary><code>${escaped(name)}</code></summary><div id="${shapeId(name)}">${prose(schema.description ?? '')}${shapes.fields(schema)}</div></details>\n`;
  }
  await turns.next();
  return docsPage({
    title: 'API reference',
    root: '',
    links,
    main: `<h1>${escaped(document.info.title)}: API reference</h1>
<p>Version ${version()}</p>
${prose(document.info.description ?? '')}${SEARCH}
${[...topics.values()].map((section) => `${section}</section>\n`).join('')}<section><h2>Shapes</h2>
${named}</section>`,
    kind: 'wide',
    script: 'docs/reference.js',
  });
}

const sectionHead = (topic: string, description = ''): string =>
  `<section><h2>${escaped(topic)}</h2>\n${prose(description)}`;

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly topic: string;
  readonly operation: Operation;
}

function operationsOf({ paths, webhooks = {} }: Documented): Entry[] {
  const entries = (all: Paths) =>
    Object.entries(all).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const [topic = 'Other operations'] = operation.tags ?? [];
        return { method: method.toUpperCase(), path, topic, operation };
      }),
    );
  return [...entries(paths), ...entries(webhooks)];
}

function operationEntry({ method, path, operation }: Entry, shapes: Shapes): string {
  const { operationId, summary = '', description = '', parameters = [], security = [] } = operation;
  const scopes = security.flatMap((each) => Object.values(each).flat());
  const key =
    scopes.length === 0 ? '' : `<p>The key needs one of the scopes ${scopes.map(code).join(', ')}.</p>`;
  const given =
    parameters.length === 0
      ? ''
      : `<h3>Parameters</h3>${table(
          ['Name', 'In', 'Type', 'Required', 'Meaning'],
          parameters.map(({ name, in: place, required = false, description: meaning, schema = {} }) => [
            code(name),
            place,
            shapes.typeOf(schema),
            required ? 'yes' : 'no',
            shapes.notes({ ...schema, description: meaning ?? schema.description }),
          ]),
        )}`;
  const samples = (operation['x-codeSamples'] ?? []).map(({ label, source }) =>
    folded(label, preformatted(source)),
  );
  return `<details><summary><b>${method}</b> <code>${escaped(path)}</code> ${escaped(summary)}</summary>
<div id="${escaped(operationId)}">${prose(description)}${key}<p><a href="#${escaped(operationId)}">Link to this operation</a></p>
${given}${bodyOf(operation, shapes)}${samples.length === 0 ? '' : `<h3>Samples</h3>${samples.join('')}`}
<h3>Answers</h3>${answersOf(operation, shapes)}</div></details>`;
}

const folded = (words: string, inner: string): string =>
  `<details><summary>${escaped(words)}</summary>${inner}</details>\n`;

function bodyOf({ requestBody }: Operation, shapes: Shapes): string {
  const contents = Object.entries(requestBody?.content ?? {});
  return contents
    .map(([type, content]) => {
      const { schema = {} } = content;
      const variants = (schema.anyOf ?? schema.oneOf ?? [schema]).map(
        (each) => `<p>${shapes.typeOf(each)}</p>${shapes.fields(shapes.resolved(each))}`,
      );
      return `<h3>Body, ${code(type)}</h3>${variants.join('<p>or</p>')}${examplesOf(content)}`;
    })
    .join('');
}

function answersOf({ responses }: Operation, shapes: Shapes): string {
  const all = Object.entries(responses);
  const rows = all.map(([status, { description, content = {} }]) => {
    const types = Object.entries(content).map(
      ([type, { schema = {} }]) => `${code(type)} ${shapes.typeOf(dataOf(schema))}`,
    );
    return [code(status), prose(description), types.join('<br />')];
  });
  const examples = all
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.values(content).map(examplesOf));
  return table(['Status', 'Meaning', 'Shape'], rows) + examples.join('');
}

/** The shape of `data` in the envelope of an answer, else the shape of the answer. */
function dataOf(schema: Schema): Schema {
  return schema.properties?.['success'] === undefined ? schema : (schema.properties['data'] ?? schema);
}

function examplesOf({ example, examples = {} }: Content): string {
  const named = Object.entries(examples).map(([name, { summary = name, value }]) => ({ summary, value }));
  const all = example === undefined ? named : [{ summary: '', value: example }, ...named];
  return all
    .map(({ summary, value }) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
      return folded(
        summary === '' || summary === 'canonical' ? 'Example' : `Example: ${summary}`,
        preformatted(text),
      );
    })
    .join('');
}
