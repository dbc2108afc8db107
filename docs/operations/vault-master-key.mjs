#!/usr/bin/env node
// The master key of Lethe, encrypted by the transit engine of HashiCorp Vault or OpenBao: docs/operate.md.
//
//   node vault-master-key.mjs wrap transit/lethe <KEYS >FILE     one line for each key on standard input, the present one first
//   node vault-master-key.mjs unwrap transit/lethe FILE          prints the keys of the file: for LETHE_MASTER_KEY_COMMAND
//
// The variables are those of the client of Vault: VAULT_ADDR, VAULT_TOKEN, VAULT_NAMESPACE, and VAULT_CACERT for the file of
// an authority. VAULT_TOKEN_FILE, the path of a file with the token, takes the place of VAULT_TOKEN.
import { readFileSync } from 'node:fs';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 65_536;
const { VAULT_ADDR = 'https://127.0.0.1:8200', VAULT_NAMESPACE, VAULT_CACERT } = process.env;

/** An error whose message the operator reads. */
class Refused extends Error {}

function read(path, what) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Refused(`${what} ${path} cannot be read (${error.code})`);
  }
}

function token() {
  const { VAULT_TOKEN = '', VAULT_TOKEN_FILE } = process.env;
  const found = VAULT_TOKEN_FILE ? read(VAULT_TOKEN_FILE, 'the token') : VAULT_TOKEN;
  if (!/^[\x21-\x7e]+$/.test(found))
    throw new Refused('set VAULT_TOKEN, or VAULT_TOKEN_FILE to a file with it');
  return found;
}

/** The field of Vault's answer to `transit/ACT/KEY`. */
async function field(act, at, given, name) {
  const [, mount, key] = /^(.+)\/([\w.-]+)$/.exec(at) ?? [];
  const base = URL.canParse(VAULT_ADDR) ? new URL(VAULT_ADDR) : undefined;
  if (key === undefined)
    throw new Refused('name the mount of the engine and its key, for example transit/lethe');
  const isHere = base?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(base.hostname);
  if (base?.protocol !== 'https:' && !isHere)
    throw new Refused('VAULT_ADDR must begin with https://, unless Vault or its agent is on this machine');
  const url = new URL(`${base.href.replace(/\/$/, '')}/v1/${mount}/${act}/${key}`);
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  const sent = JSON.stringify(given);
  const answer = await new Promise((done, failed) => {
    const request = send(url, {
      method: 'POST',
      ca: VAULT_CACERT ? read(VAULT_CACERT, 'VAULT_CACERT') : undefined,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(sent),
        'x-vault-token': token(),
        // Vault refuses requests without it where its agent asks for it: they may come from a page in a browser.
        'x-vault-request': 'true',
        ...(VAULT_NAMESPACE && { 'x-vault-namespace': VAULT_NAMESPACE }),
      },
    });
    request.on('error', failed).on('response', done).end(sent);
  });
  let body = '';
  for await (const chunk of answer.setEncoding('utf8'))
    if ((body += chunk).length > ANSWER_BYTES_MAX)
      throw new Refused('the answer is too large to be one of Vault');
  const { data, errors } = body.startsWith('{') ? JSON.parse(body) : {};
  if (answer.statusCode !== 200)
    throw new Refused(
      `Vault answers ${answer.statusCode}${errors?.length > 0 ? `: ${errors.join('; ')}` : ''}`,
    );
  if (typeof data?.[name] !== 'string')
    throw new Refused(`the answer has no ${name}: it is not one of Vault`);
  return data[name];
}

async function wrap(at) {
  const keys = (await text(process.stdin)).split(/[,\s]+/).filter((key) => key !== '');
  if (keys.length === 0 || keys.some((key) => Buffer.from(key, 'base64').length !== 32))
    throw new Refused('give keys on standard input, each the output of openssl rand -base64 32');
  return Promise.all(keys.map((plaintext) => field('encrypt', at, { plaintext }, 'ciphertext')));
}

async function unwrap(at, file) {
  const wrapped = read(file, 'the file').split(/\s+/);
  return Promise.all(wrapped.map((ciphertext) => field('decrypt', at, { ciphertext }, 'plaintext')));
}

const [act, at, file] = process.argv.slice(2);
try {
  if (!(act === 'wrap' && at && !file) && !(act === 'unwrap' && file))
    throw new Refused('wrap MOUNT/KEY <KEYS, or unwrap MOUNT/KEY FILE');
  const lines = await (act === 'wrap' ? wrap(at) : unwrap(at, file));
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
} catch (error) {
  // Messages of other errors can quote what was sent.
  const said =
    error instanceof Refused
      ? error.message
      : `Vault at ${VAULT_ADDR} cannot be asked (${error.code ?? error.name})`;
  process.stderr.write(`${said}\n`);
  process.exitCode = 1;
}
