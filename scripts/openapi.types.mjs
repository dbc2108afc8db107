// The types of openapi.json for packages/sdk: `npm run openapi` writes them, `--check` compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'packages/sdk/src/openapi.ts');

/** Without examples, refusals and headers, which no type of the client needs. */
function trimmed(document) {
  for (const item of Object.values(document.paths))
    for (const operation of Object.values(item)) {
      const answers = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      operation.responses = Object.fromEntries(
        answers.map(([status, { description, content }]) => [status, { description, content }]),
      );
    }
  delete document.webhooks;
  return JSON.parse(JSON.stringify(document, (key, value) => (/^examples?$/.test(key) ? undefined : value)));
}

const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
const code = astToString(await openapiTS(trimmed(document), { immutable: true, alphabetize: false }));
const config = await resolveConfig(FILE);
const text = await format(`// Generated from openapi.json by \`npm run openapi\`.\n\n${code}`, {
  ...config,
  parser: 'typescript',
});

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.log('packages/sdk/src/openapi.ts is stale.');
  process.exitCode = 1;
}
