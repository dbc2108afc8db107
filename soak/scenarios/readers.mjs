import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { forget, hasConsent, newBot, statusOf, subject, timed, until } from '../bots.mjs';
import { atMost, shown } from '../table.mjs';

export const name = 'readers';
export const shows =
  'buffers that readers hold which do not read, and lawful calls of another bot beside them';
export const engines = ['sqlite', 'postgres'];

const SILENT = 10;
const PIPELINED = 30;
/** The connections share one document; beside it each has the buffers of its socket. */
const DOCUMENTS_HELD = 3;
/** A stalled reader is cut for a waiting answer after a second at least; the rest is for a busy machine. */
const LAWFUL_MS = 4_000;
const STREAMS_PER_BOT = 2;
const PARTS = 6;
const PART_LENGTH = 2 ** 21;
const SETTINGS = {
  ...{ STREAMS_MAX: '6', STREAMS_PER_BOT: String(STREAMS_PER_BOT) },
  ...{ BODY_LIMIT_BYTES: '8388608', DATA_LIMIT_BYTES: '8388608', DETAILS_LIMIT_BYTES: '8388608' },
};

/** A connection that sends a text and reads nothing. */
async function silent(stage, url, text) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => undefined);
  stage.defer(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const request = (path, key) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${key === undefined ? '' : `Authorization: Bearer ${key}\r\n`}\r\n`;

async function rowsOfBuffers(stage) {
  const service = await stage.service({ READER_TIMEOUT_MS: '20000' }, { watched: true });
  const document = async () => (await (await fetch(`${service.url}/docs-json`)).arrayBuffer()).byteLength;
  const bytes = await document();
  const sockets = [];
  const held = await service.heldAfter(async () => {
    for (let n = 0; n < SILENT; n++)
      sockets.push(await silent(stage, service.url, request('/docs-json').repeat(PIPELINED)));
    await pause(1_500);
    await fetch(`${service.url}/health/live`);
  });
  for (const socket of sockets) socket.destroy();
  const what = `${SILENT} silent readers with ${PIPELINED} requests each`;
  return [
    shown('the document', bytes / 2 ** 20, 'MiB'),
    shown(`${what}: held`, held / 2 ** 20, 'MiB'),
    atMost(DOCUMENTS_HELD, `${what}: held / document`, held / bytes),
  ];
}

/** A bot with a user whose export has 12 MB, and a log as long. */
async function greedy(url) {
  const [bot, who] = [await newBot(url), subject()];
  await hasConsent(bot, who);
  for (let at = 0; at < PARTS; at++) {
    const value = String(at).repeat(PART_LENGTH);
    await bot.call('POST', '/audit/event', { ...who, event_type: 'data_exported', details: { value } });
  }
  return { bot, who };
}

/** Milliseconds of the slowest of the calls that the law asks of a bot. */
async function slowestLawful(bot) {
  const [erased, exported] = [subject(), subject()];
  for (const who of [erased, exported]) await hasConsent(bot, who);
  const { user_id: user, guild_id: guild } = exported;
  const calls = [
    () => bot.call('GET', `/data/export/${user}?guild_id=${guild}&format=full`),
    () => bot.call('GET', `/data/export/${user}?scope=all_guilds`),
    () => bot.call('GET', `/bots/${bot.id}/processing-record`),
    () => bot.call('GET', '/audit/breach-scope?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z'),
    () => forget(bot, erased),
  ];
  return Math.max(...(await Promise.all(calls.map(timed))));
}

async function rowsOfLawful(stage) {
  const service = await stage.service(SETTINGS);
  const innocent = await newBot(service.url);
  const all = [];
  for (let n = 0; n < 4; n++) all.push(await greedy(service.url));
  await slowestLawful(innocent);
  const usualMs = await slowestLawful(innocent);
  const documents = {
    'an export': ({ who }) => `/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full`,
    'an audit export': () => '/audit/export',
  };
  const rows = [shown('slowest lawful call without readers', usualMs, 'ms')];
  for (const [what, path] of Object.entries(documents)) {
    const sockets = [];
    for (const of of all)
      for (let n = 0; n < STREAMS_PER_BOT; n++)
        sockets.push(await silent(stage, service.url, request(`/api/v1${path(of)}`, of.bot.key).repeat(20)));
    await pause(1_000);
    const besideMs = await slowestLawful(innocent);
    rows.push(atMost(LAWFUL_MS, `slowest lawful call beside readers that stall ${what}`, besideMs, 'ms'));
    for (const socket of sockets) socket.destroy();
    await until(async () => (await timed(() => statusOf(innocent))) < 1_000);
  }
  return rows;
}

export async function run(stage) {
  return [...(await rowsOfBuffers(stage)), ...(await rowsOfLawful(stage))];
}
