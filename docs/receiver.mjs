// A receiver of webhooks: SECRET=whsec_… node docs/receiver.mjs. It verifies, prints and confirms each call.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SECRET, PORT = '8080' } = process.env;

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const expected = Buffer.from(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
  const given = Buffer.from(request.headers['x-gdpr-signature'] ?? '');
  const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
  if (isGenuine) console.log('webhook:', JSON.parse(body)); // delete here what your bot stores itself
  response.writeHead(isGenuine ? 204 : 401).end();
}).listen(Number(PORT), '127.0.0.1');
