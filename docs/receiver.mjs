// A receiver of webhooks: SECRET=whsec_… node docs/receiver.mjs. It verifies, prints and confirms each call.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SECRET, PORT = '8080' } = process.env;
if (!SECRET?.startsWith('whsec_')) throw new Error('SECRET is not set to the webhook_secret, whsec_…');
const BODY_MAX_BYTES = 65_536; // calls are far smaller

createServer((request, response) => {
  const answer = (status) =>
    response.headersSent || response.writeHead(status, { connection: 'close' }).end();
  const chunks = [];
  let bytes = 0;
  // Listeners, no promise: a caller that breaks off within its body is then no error that ends this process.
  request.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) answer(413);
    else chunks.push(chunk);
  });
  request.on('end', () => {
    if (bytes > BODY_MAX_BYTES) return;
    const body = Buffer.concat(chunks);
    const expected = Buffer.from(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
    const given = Buffer.from(request.headers['x-gdpr-signature'] ?? '');
    const isGenuine = given.length === expected.length && timingSafeEqual(given, expected);
    if (isGenuine) console.log(`webhook: ${body}`); // delete here what your bot stores itself
    answer(isGenuine ? 204 : 401);
  });
}).listen(Number(PORT), '127.0.0.1', () => console.log(`receives webhooks on port ${PORT}`));
