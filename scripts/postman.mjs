// Writes the Postman collection of openapi.json: docs/lethe.postman_collection.json. `--check` compares it.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'docs/lethe.postman_collection.json');
const METHODS = ['get', 'post', 'put', 'delete'];

const { info, paths, tags } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));

/** Ids of a bot are variables of the collection, which the registration sets. */
const ownId = (name) => (name === 'bot_id' ? '{{bot_id}}' : undefined);

const bearer = (value) => ({ type: 'bearer', bearer: [{ key: 'token', value, type: 'string' }] });

function request(method, path, operation) {
  const { parameters = [], requestBody, security } = operation;
  const of = (place) => parameters.filter((each) => each.in === place);
  const valued = ({ name, example, description }) => ({
    key: name,
    value: ownId(name) ?? String(example ?? ''),
    ...(description && { description }),
  });
  const body = requestBody?.content['application/json'].examples?.canonical?.value;
  return {
    method: method.toUpperCase(),
    description: operation.description,
    header: body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }],
    url: {
      raw: `{{url}}${path.replace(/\{(\w+)\}/g, ':$1')}`,
      host: ['{{url}}'],
      path: path
        .slice(1)
        .split('/')
        .map((part) => part.replace(/^\{(\w+)\}$/, ':$1')),
      // A parameter without an example is there to be switched on.
      query: of('query').map((each) => ({ ...valued(each), disabled: each.example === undefined })),
      variable: of('path').map(valued),
    },
    ...(security?.length === 0 && { auth: { type: 'noauth' } }),
    ...(security?.some((each) => each.operatorToken) && { auth: bearer('{{operator_token}}') }),
    ...(body !== undefined && {
      body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
    }),
  };
}

/** The answer of the registration fills the variables of the other requests. */
const KEEP = [
  'const { data } = pm.response.json();',
  "pm.collectionVariables.set('bot_id', data.id);",
  "pm.collectionVariables.set('api_key', data.api_key);",
];
const eventsOf = (path) =>
  path === '/api/v1/bots/register'
    ? { event: [{ listen: 'test', script: { type: 'text/javascript', exec: KEEP } }] }
    : {};

const operations = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ method, path, operation: item[method] })),
);
const collection = {
  info: {
    name: info.title,
    description: info.description,
    version: info.version,
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  },
  auth: bearer('{{api_key}}'),
  variable: [
    { key: 'url', value: 'http://127.0.0.1:3000' },
    { key: 'api_key', value: '' },
    { key: 'bot_id', value: '' },
    { key: 'operator_token', value: '' },
  ],
  item: tags.map(({ name, description }) => ({
    name,
    description,
    item: operations
      .filter(({ operation }) => operation.tags[0] === name)
      .map(({ method, path, operation }) => ({
        name: operation.summary,
        ...eventsOf(path),
        request: request(method, path, operation),
      })),
  })),
};
const text = `${JSON.stringify(collection, null, 2)}\n`;

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.log('docs/lethe.postman_collection.json is stale.');
  process.exitCode = 1;
}
