import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from './server.mjs';

// The document comes from a running server: the same as at /docs.
const server = await startServer();
const document = await (await fetch(`${server.url}/docs-json`)).json();
await server.stop();
writeFileSync(join(import.meta.dirname, '../openapi.json'), `${JSON.stringify(document, null, 2)}\n`);
await import('./openapi.types.mjs');
await import('./openapi.python.mjs');
await import('./postman.mjs');
console.log(
  'openapi.json is written, its types in packages/sdk and clients/python, and the Postman collection.',
);
