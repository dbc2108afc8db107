// The types and the plain calls of openapi.json for clients/python: `npm run openapi` writes them, `--check` compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const PACKAGE = 'clients/python/src/lethe_client';
const WIDTH = 116;
const HEAD = 'It is made of openapi.json: npm run openapi.';
const { paths, webhooks, components } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
const { schemas } = components;

/** What a method does beyond its call is written in `_async.py`; of `stats` the group is the client. */
const BY_HAND = [
  ...[
    'bots.processing_record',
    'bots.review_dossier',
    'consents.status_many',
    'privacy.forget',
    'audit.export',
  ],
  ...['operator.ledger', 'data.submit', 'data.submit_many', 'data.export'],
];
/** Known by the key. */
const OWN = 'bot_id';
const PLACE = ['page', 'page_size', 'after'];
const IDS = ['user_id', 'guild_id', 'platform_bot_id'];
const NONE = 'null';

const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const refName = (ref) => ref.split('/').at(-1);
const quoted = (value) =>
  JSON.stringify(value)
    .replace(/^true$/, 'True')
    .replace(/^false$/, 'False');
const alternatives = (schema) => schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [schema];
const isNull = (schema) => schema.type === NONE || (Array.isArray(schema.type) && schema.type.includes(NONE));

/** The TypedDicts by name: those of the document, and those of objects without a name. */
const records = new Map();
/** The type of a schema. In what a bot sends, ids are a str or an int. */
function typeOf(schema, name, isSent) {
  if (schema.$ref !== undefined) return record(refName(schema.$ref), schemas[refName(schema.$ref)], isSent);
  const found = [...new Set(alternatives(schema).filter((one) => one.type !== NONE))];
  const types = found.map((one, at) => oneType(one, found.length > 1 ? `${name}${at + 1}` : name, isSent));
  const type = types.length > 1 ? `Union[${types.join(', ')}]` : types[0];
  return alternatives(schema).some(isNull) ? `Optional[${type}]` : type;
}

function oneType(schema, name, isSent) {
  if (schema.$ref !== undefined || schema.anyOf || schema.oneOf || schema.allOf)
    return typeOf(schema, name, isSent);
  if (schema.enum !== undefined)
    return `Literal[${schema.enum
      .filter((one) => one !== null)
      .map(quoted)
      .join(', ')}]`;
  const type = [schema.type].flat().find((one) => one !== NONE);
  const simple = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }[type];
  if (simple !== undefined) return simple;
  if (type === 'array') return `List[${typeOf(schema.items ?? {}, name, isSent)}]`;
  if (type !== 'object') return 'Any';
  if (schema.properties !== undefined) return record(name, schema, isSent);
  const { additionalProperties: inner } = schema;
  const value = typeof inner === 'object' ? typeOf(inner, `${name}Value`, isSent) : 'Any';
  return `${isSent ? 'Mapping' : 'Dict'}[str, ${value}]`;
}

function record(name, schema, isSent) {
  if (records.has(name)) return name;
  records.set(name, '');
  const { required = [], properties = {} } = schema;
  const fields = Object.entries(properties).map(([key, one]) => ({
    key,
    type: isSent && IDS.includes(key) ? 'Id' : typeOf(one, `${name}${pascal(key)}`, isSent),
    isRequired: required.includes(key),
  }));
  records.set(name, recordText(name, schema.description, fields));
  return name;
}

/** A class, or two where some fields can be missing: NotRequired is younger than the Python that is supported. */
function recordText(name, description, fields) {
  const [must, may] = [true, false].map((is) => fields.filter(({ isRequired }) => isRequired === is));
  const about = description === undefined ? [] : [docstring(description, 4)];
  const base = must.length > 0 && may.length > 0 ? `_${name}` : name;
  const written = (own, parent, part, total) => {
    const isPlain = part.every(({ key }) => key !== 'from');
    const pairs = part.map(({ key, type }) => `${quoted(key)}: ${quoted(type)}`).join(', ');
    if (!isPlain) return `${own} = TypedDict("${own}", {${pairs}}${total})`;
    const lines = part.map(({ key, type }) => `    ${key}: ${type}`);
    return [`class ${own}(${parent}${total}):`, ...(own === name ? about : []), ...lines].join('\n');
  };
  const first = written(
    base,
    'TypedDict',
    must.length > 0 ? must : may,
    must.length > 0 ? '' : ', total=False',
  );
  return base === name ? first : `${first}\n\n\n${written(name, base, may, ', total=False')}`;
}

function docstring(text, indent) {
  const blanks = ' '.repeat(indent);
  const lines = text.split('\n').flatMap((line) => wrapped(line.trim(), WIDTH - indent - 3));
  const whole = lines.join(`\n${blanks}`).replace(/^ +$/gm, '');
  return `${blanks}"""${whole}${lines.length > 1 ? `\n${blanks}` : ''}"""`;
}

function wrapped(line, width) {
  const lines = [''];
  for (const word of line.split(' '))
    if (lines.at(-1).length + word.length < width) lines.push(`${lines.pop()} ${word}`.trimStart());
    else lines.push(word);
  return lines;
}

// --- The calls.

const canonical = (body) =>
  alternatives(body).find(({ $ref }) => !schemas[refName($ref)].required?.includes(OWN)) ?? body;

function parametersOf(route, { parameters = [], requestBody }, isList) {
  const placed = parameters.filter(({ in: place, name }) => place !== 'header' && name !== OWN);
  const left = placed.filter(({ name }) => !isList || !PLACE.includes(name));
  const found = left.map(({ name, required, schema }) => ({ name, required: required === true, schema }));
  const body = requestBody?.content['application/json'].schema;
  const { properties = {}, required = [] } = body === undefined ? {} : schemas[refName(canonical(body).$ref)];
  const more = Object.entries(properties).map(([name, schema]) => ({
    ...{ name, schema, required: required.includes(name) },
  }));
  const all = [...found, ...more].map(({ name, schema, required }) => {
    const of = pascal(`${route.group}_${route.method}_${name}`);
    const type = IDS.includes(name) ? 'Id' : typeOf(schema, of, true);
    // An id in the path is as the service made it.
    const isOptional = !required && !type.startsWith('Optional[');
    return {
      name,
      written: name === 'from' ? 'from_' : name,
      required,
      type: isOptional ? `Optional[${type}]` : type,
    };
  });
  return [...all.filter(({ required }) => required), ...all.filter(({ required }) => !required)];
}

function callsOf() {
  const groups = new Map();
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item)) {
      const sample = operation['x-codeSamples'].find(({ label }) => label === 'Python').source;
      const [, group = sample.includes('Lethe.register') ? 'bots' : '', name, first] =
        /\blethe\.(?:(\w+)\.)?(\w+)\((.?)/i.exec(
          sample
            .split('\n\n')
            .at(-1)
            .replace(/^lethe = .*\n/, ''),
        ) ?? [];
      const route = { group, method: name, route: `${method.toUpperCase()} ${path.replace('/api/v1', '')}` };
      const call = { ...route, operation, isPositional: first === '"' };
      if (name === 'request' && first === '"') continue;
      groups.set(group, [...(groups.get(group) ?? []), call]);
    }
  return groups;
}

const answerOf = ({ responses }) => {
  const content = (responses['200'] ?? responses['201']).content['application/json'];
  const data = content?.schema.properties.data;
  // Further shapes answer other shapes of the request.
  return data === undefined ? undefined : alternatives(data)[0];
};

function methodText(call) {
  const { operation, route, method, group, isPositional } = call;
  const answer = answerOf(operation);
  const listed = schemas[refName(answer?.$ref ?? '')]?.properties;
  const isList = listed?.pagination !== undefined;
  const pages = refName(listed?.pagination?.$ref ?? '') === 'WalkPagination' ? 'AsyncWalk' : 'AsyncPages';
  const given = isPositional
    ? [/\{(\w+)\}[^{]*$/.exec(route)[1]].map((name) => ({ name, written: name, required: true, type: 'str' }))
    : parametersOf(call, operation, isList);
  const parameters = given.map(
    ({ written, type, required }) => `${written}: ${type}${required ? '' : ' = OMITTED'}`,
  );
  const pairs = given.map(({ name, written }) => `"${name}": ${written}`);
  const inOne = `        given: Dict[str, Any] = {${pairs.join(', ')}}`;
  const dict =
    inOne.length <= WIDTH
      ? inOne
      : `        given: Dict[str, Any] = {\n${pairs.map((pair) => `            ${pair},\n`).join('')}        }`;
  const name = isList ? Object.keys(listed).find((key) => listed[key].items !== undefined) : '';
  const type = isList
    ? `${pages}[${typeOf(listed[name].items, pascal(name), false)}]`
    : typeOf(answer, pascal(`${group}_${method}`), false);
  const own = ['self', ...(isPositional ? [...parameters, '*'] : ['*', ...parameters])];
  const options = 'options: Optional[CallOptions] = None';
  const line = `    ${isList ? 'def' : 'async def'} ${method}(${[...own, options].join(', ')}) -> ${type}:`;
  const head =
    line.length <= WIDTH
      ? line
      : `    ${isList ? 'def' : 'async def'} ${method}(\n${[...own, options].map((one) => `        ${one},\n`).join('')}    ) -> ${type}:`;
  const [about] = (operation.description ?? '').split('\n\n');
  const doc = docstring(`${operation.summary}.${about === '' ? '' : `\n\n${about}`}`, 8);
  const body = isList
    ? [`        return ${pages}(self._call, "${route}", "${name}", given, options)`]
    : [
        `        answer: ${type} = await self._call.send("${route}", given, options)`,
        '        return answer',
      ];
  return [head, doc, dict, ...body].join('\n');
}

const groupText = ([group, calls]) => {
  const own = calls.filter(({ method }) => !BY_HAND.includes(`${group}.${method}`));
  const about = group === '' ? '    """What belongs to no group."""\n\n' : '';
  return `class Async${pascal(group)}(AsyncGroup):\n${about}${own.map(methodText).join('\n\n')}`;
};

// --- The files.

const groups = [...callsOf()].map(([group, calls]) => [group === '' ? 'unnamed' : group, calls]);
const calls = groups.map(groupText);
for (const name of ['ConsentQuery', 'SubmitData']) record(name, schemas[name], true);
// What is answered in more than one shape has a method of its own for each.
for (const one of Object.values(paths).flatMap((item) => Object.values(item))) {
  const { schema } = (one.responses['200'] ?? one.responses['201']).content['application/json'] ?? {};
  if (schema !== undefined) typeOf(schema.properties.data, '', false);
}
for (const { post } of Object.values(webhooks))
  typeOf(post.requestBody.content['application/json'].schema, '', false);
const events = schemas.DeliveryView.properties.event.enum;
const codes = schemas.Error.properties.error.properties.code.enum;

const typesText = `"""The records of the interface: what calls take and answer. ${HEAD}"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Mapping, Optional, Tuple, TypedDict, Union

Id = Union[str, int]

#: The codes of the errors of the service.
CODES: Tuple[str, ...] = (
${codes.map((code) => `    "${code}",\n`).join('')})

#: What the webhook calls say.
EVENTS: Tuple[str, ...] = (${events.map(quoted).join(', ')})


${[...records.values()].join('\n\n\n')}


#: A user of the bot in a guild.
Subject = ConsentQuery
`;

const named = [...records.keys()].filter((name) => new RegExp(`\\b${name}\\b`).test(calls.join('\n')));
const importText = (names) =>
  `from .types import (\n${['Id', ...names]
    .sort()
    .map((name) => `    ${name},\n`)
    .join('')})`;
const words = calls.join('\n');
const typing = ['Any', 'Dict', 'List', 'Literal', 'Mapping', 'Optional', 'Union'].filter((name) =>
  new RegExp(`\\b${name}\\[|\\b${name}\\b`).test(words),
);
const callsText = `"""The calls that need no more than their request. ${HEAD}"""

from __future__ import annotations

from typing import ${typing.join(', ')}

from ._async_caller import AsyncGroup, AsyncPages, AsyncWalk
from ._core import OMITTED, CallOptions
${importText(named)}


${words.replaceAll('\nclass ', '\n\n\nclass ')}
`;
const synchronous = callsText
  .replace(/\b(async|await) /g, '')
  .replace(/\bAsync(?=[A-Z])/g, '')
  .replace(/_async_/g, '_');

const files = { 'types.py': typesText, '_async_calls.py': callsText, '_calls.py': synchronous };
for (const [name, text] of Object.entries(files)) {
  const file = join(ROOT, PACKAGE, name);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.log(`${PACKAGE}/${name} is stale.`);
    process.exitCode = 1;
  }
}
