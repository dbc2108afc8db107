import { createServer, type IncomingMessage } from 'node:http';
import { freePort } from '../support/free-port';
import { PATIENT_SERVER } from '../support/patient';
import { type Sending, type Sent, sent } from '../support/sent';

/** Answers with all that has arrived: method, target, header lines and body. */
const mirror = createServer(PATIENT_SERVER, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(request.url?.startsWith('/moved') === true ? 303 : 200, [
      ...['set-cookie', 'a=1'],
      ...['set-cookie', 'b=2'],
      ...['x-text', 'caf\u00e9'],
      ...['location', '/elsewhere'],
    ]);
    const mark = request.url?.startsWith('/marked') === true ? '\ufeff' : '';
    response.end(mark + JSON.stringify(arrived(request, Buffer.concat(chunks).toString('base64'))));
  });
});
let url: string;

function arrived({ method, url: target, rawHeaders }: IncomingMessage, body: string): unknown {
  const lines = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : [],
  );
  return { method, target, headers: lines.sort(), body };
}

beforeAll(async () => {
  const port = await freePort();
  await new Promise<void>((resolve) => mirror.listen(port, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => void mirror.close().closeAllConnections());

async function fetched(to: string, { body, ...given }: Sending): Promise<Sent> {
  const response = await fetch(to, { ...given, body: body as RequestInit['body'], redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Which differ: the time, and that fetch ends the connection of a HEAD. */
const VARIABLE = ['connection', 'date', 'keep-alive'];

const shown = ({ headers, ...answer }: Sent): unknown => ({
  ...answer,
  headers: [...headers].filter(([name]) => !VARIABLE.includes(name)),
});

const SENDINGS: [string, string, Sending][] = [
  ['no body', '/x?a=1', {}],
  [
    'a body of JSON',
    '/x',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}' },
  ],
  ['a text without a type', '/x', { method: 'PUT', body: 'a text' }],
  ['bytes without a type', '/x', { method: 'POST', body: Buffer.from([0, 255, 1]) }],
  ['an empty body', '/x', { method: 'POST', body: '' }],
  ['no body in a POST', '/x', { method: 'POST' }],
  ['no body in a DELETE', '/x', { method: 'DELETE' }],
  ['a body in a DELETE', '/x', { method: 'DELETE', body: '{}' }],
  ['a HEAD', '/x', { method: 'HEAD' }],
  ['a header twice, in two cases', '/x', { headers: { Authorization: 'a', authorization: 'b' } }],
  ['an empty credential', '/x', { headers: { authorization: 'Bearer ' } }],
  ['headers in place of the usual ones', '/x', { headers: { Accept: 'text/html', 'user-agent': 'me' } }],
  ['a target that is normalised', '/a/../b c/ü?q=ä#part', {}],
  ['a redirect, which is not followed', '/moved', {}],
  ['an answer with a byte order mark', '/marked', {}],
];

describe('A request of the suites arrives, and its answer comes back, as with fetch:', () => {
  it.each(SENDINGS)('%s', async (_, target, given) => {
    expect(shown(await sent(url + target, given))).toStrictEqual(shown(await fetched(url + target, given)));
  });

  it.each<Record<string, string>>([{ 'x-a': 'line\r\nbreak' }, { 'x-a': '\u2603' }, { 'no name': 'x' }])(
    'a header that cannot be sent is refused: %j',
    async (headers) => {
      await expect(async () => sent(url, { headers })).rejects.toThrow(TypeError);
      await expect(fetched(url, { headers })).rejects.toThrow(TypeError);
    },
  );

  it('one that is cut fails with a TypeError: before the answer, amid it, and without a server', async () => {
    const cutting = createServer(({ url: target }, response) => {
      if (target === '/before') response.destroy();
      else response.writeHead(200, { 'content-length': 10 }).write('abc', () => response.destroy());
    });
    const port = await freePort();
    await new Promise<void>((resolve) => cutting.listen(port, '127.0.0.1', resolve));
    const fails = async (target: string): Promise<void> => {
      await expect(sent(`http://127.0.0.1:${port}${target}`)).rejects.toThrow(TypeError);
      await expect(fetched(`http://127.0.0.1:${port}${target}`, {})).rejects.toThrow(TypeError);
    };
    await fails('/before');
    await fails('/amid');
    cutting.close().closeAllConnections();
    await fails('/before');
  });
});
