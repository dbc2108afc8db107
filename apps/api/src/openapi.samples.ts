import { OPERATOR_SCHEME } from '@app/http';
import { METHODS } from './openapi.methods';

interface Sampled {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in?: string;
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { examples?: Record<string, unknown> }>>;
  };
  readonly security?: readonly object[];
}

/** `x-codeSamples`: the first example, with curl and the clients; by its route where they have no method for it. */
export function samplesOf(method: string, path: string, operation: Sampled): object[] {
  const route = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`;
  const placed = (place: string): Record<string, unknown> =>
    Object.fromEntries(
      (operation.parameters ?? [])
        .filter((each) => each.in === place && each.example !== undefined)
        .map(({ name, example }) => [name, example]),
    );
  const { canonical } = operation.requestBody?.content['application/json']?.examples ?? {};
  const isOfOperator = operation.security?.some((each) => OPERATOR_SCHEME in each) === true;
  const sample: Sample = {
    route,
    method: METHODS[route],
    ids: placed('path'),
    query: placed('query'),
    body: (canonical as { value: object } | undefined)?.value,
    isPublic: operation.security?.length === 0,
    secret: isOfOperator ? 'OPERATOR_TOKEN' : 'LETHE_KEY',
  };
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(sample) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptOf(sample) },
    { lang: 'Python', label: 'Python', source: pythonOf(sample) },
  ];
}

/** What the samples of one operation have in common. */
export interface Sample {
  readonly route: string;
  /** The method of the clients with its marks, if it has one. */
  readonly method: string | undefined;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: object | undefined;
  readonly isPublic: boolean;
  /** The variable of the environment with the API key, or the token of the operator. */
  readonly secret: 'LETHE_KEY' | 'OPERATOR_TOKEN';
}

const URL = 'https://lethe.example';
const CLIENT = '@lethe/sdk';
const WIDTH = 90;

function curlOf({ route, ids, query, body, isPublic, secret }: Sample): string {
  const [method = '', path = ''] = route.split(' ');
  const placed = path.replace(/\{(\w+)\}/g, (_, name: string) => String(ids[name]));
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} '${URL}/api/v1${placed}${search.size > 0 ? `?${search.toString()}` : ''}'`,
    ...(isPublic ? [] : [`-H "Authorization: Bearer $${secret}"`]),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`,
        ]),
  ];
  return parts.join(' \\\n  ');
}

function typescriptOf(sample: Sample): string {
  const call = callOf(sample);
  const given = call.given.map((value) => literal(value, TYPESCRIPT)).join(', ');
  const head = `import { Lethe } from '${CLIENT}';\n\n`;
  if (call.name === 'register')
    return `${head}const bot = await Lethe.register({ url: '${URL}' }, ${given});\nconsole.log(bot.id);`;
  const client = `const lethe = new Lethe({ url: '${URL}', key: process.env.${sample.secret} });\n`;
  const called = `lethe.${call.name}(${given})`;
  return (
    head +
    client +
    (call.isList ? `for await (const item of ${called}) console.log(item);` : `console.log(await ${called});`)
  );
}

function pythonOf(sample: Sample): string {
  const call = callOf(sample);
  const isNamed = call.given.length === 1 && isRecord(call.given[0]) && sample.method !== undefined;
  const given = isNamed
    ? Object.entries(call.given[0] as object).map(
        ([name, value]) => `${pythonName(name)}=${literal(value, PYTHON)}`,
      )
    : call.given.map((value) => literal(value, PYTHON));
  const called = (name: string, first: readonly string[] = []): string =>
    `${name}(${wider(wrapped([...first, ...given]))})`;
  if (call.name === 'register')
    return `from lethe_client import Lethe\n\nbot = ${called('Lethe.register', [`url="${URL}"`])}\nprint(bot["id"])`;
  const head = `import os\n\nfrom lethe_client import Lethe\n\nlethe = Lethe(url="${URL}", key=os.environ["${sample.secret}"])\n`;
  const name = `lethe.${snakeCase(call.name)}`;
  return head + (call.isList ? `for item in ${called(name)}:\n    print(item)` : `print(${called(name)})`);
}

/** The method without its marks, and what it is given. */
function callOf({ route, method, ids, query, body }: Sample): {
  name: string;
  given: unknown[];
  isList: boolean;
} {
  // The clients know the id of the bot by its key.
  const { bot_id: botId, ...others } = ids;
  const all = { ...others, ...query, ...body };
  if (method === undefined) return { name: 'request', given: [route, all], isList: false };
  const isList = method.endsWith('*');
  const name = method.replace(/[#*[\]]/g, '');
  const [id] = Object.values(Object.keys(others).length > 0 ? others : { botId });
  if (method.includes('#')) return { name, given: [id], isList };
  if (method.includes('[]')) return { name, given: [(body as { items: unknown }).items], isList };
  return { name, given: Object.keys(all).length === 0 ? [] : [all], isList };
}

interface Language {
  readonly text: (text: string) => string;
  readonly name: (name: string) => string;
  readonly words: Readonly<Record<string, string>>;
}

const TYPESCRIPT: Language = {
  text: (text) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`),
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`),
  words: {},
};
const PYTHON: Language = {
  text: (text) => JSON.stringify(text),
  name: (name) => JSON.stringify(name),
  words: { true: 'True', false: 'False', null: 'None' },
};

/** A value of JSON in a language, in one line where that is short. */
function literal(value: unknown, language: Language): string {
  if (typeof value === 'string') return language.text(value);
  if (Array.isArray(value)) return `[${wrapped(value.map((each) => literal(each, language)))}]`;
  if (!isRecord(value)) return language.words[String(value)] ?? String(value);
  const parts = Object.entries(value).map(
    ([name, each]) => `${language.name(name)}: ${literal(each, language)}`,
  );
  const inner = wrapped(parts);
  return language === TYPESCRIPT && !inner.startsWith('\n') && parts.length > 0
    ? `{ ${inner} }`
    : `{${inner}}`;
}

/** Parts with commas between them: in one line, or each in its own. */
function wrapped(parts: readonly string[]): string {
  const line = parts.join(', ');
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `\n${parts.map((part) => `  ${part.replaceAll('\n', '\n  ')},\n`).join('')}`;
}

/** The indentation of Python. */
const wider = (text: string): string => text.replace(/^ +/gm, (blanks) => blanks + blanks);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `from` is a word of the language. */
const pythonName = (name: string): string => (name === 'from' ? 'from_' : name);
