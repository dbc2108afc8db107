import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { hasConsent, newBot, statusOf, subject, timed, until } from '../bots.mjs';
import { atLeast, atMost, shown } from '../table.mjs';

export const name = 'copies';
export const shows =
  'stops and memory for copies of large values and full exports of long histories; silent clients';
export const engines = ['sqlite', 'postgres'];

const MIB = 2 ** 20;
/** A bot may declare 100, and has one from the start. */
const CATEGORIES = 99;
/** A value of nearly 64 KiB, of items that become the most HTML. */
const TREE = Array(32_000).fill(0);
const STEPS = 3_000;
/** The places of a bot for large answers. */
const AT_ONCE = 8;
const SILENT = 16;
const SILENT_MS = 3_000;
/** A stop of this length is none: the garbage collector needs as much. SECURITY.md promises 150 ms. */
const SHORT_MS = 50;
const STOP_TIMES = 8;
/** What was sent should die young: what grows old is kept until the heap has some hundred MB. The driver of PostgreSQL makes more of it. */
const GROWTH_MIB = { sqlite: 96, postgres: 220 };
/** The items of one value are parsed together. A copy that was made whole took 455 MB. */
const COPIES_MIB = 300;
const HELD_MIB = 48;
const SMALL_MS = 1_000;

const declare = (bot, key, fields) =>
  bot.call('POST', '/data/register', { key, label_de: 'Kategorie', label_en: 'Category', fields });

/** A user with a value of 64 KiB in each of 99 categories, as the path and the form of the copy to read. */
async function withValues({ url }) {
  const [bot, who] = [await newBot(url), subject()];
  const fields = [{ key: 'tree', type: 'json', label_de: 'Baum', label_en: 'Tree' }];
  const keys = Array.from({ length: CATEGORIES }, (_, at) => `category_${at}`);
  for (const key of keys) await declare(bot, key, fields);
  await hasConsent(bot, who);
  for (const category of keys)
    await bot.call('POST', '/data/submit', { ...who, category, data: { tree: TREE } });
  const { url: page } = await bot.call('POST', '/privacy-links', who);
  const { pathname } = new URL(page);
  const html = await (await fetch(`${url}${pathname}?lang=en`)).text();
  const [, mark] = new RegExp(
    `action="${pathname}/export\\?lang=en">\\s*<input type="hidden" name="mark" value="([^"]+)"`,
  ).exec(html);
  return {
    bot,
    path: `${pathname}/export?lang=en`,
    form: new URLSearchParams({ mark, form: 'html' }).toString(),
  };
}

/** A user who was asked 3,000 times, each time about 50 categories. */
async function withHistory(stage, { url }) {
  const [bot, who] = [await newBot(url), subject()];
  const fields = [{ key: 'text', type: 'string', label_de: 'Text', label_en: 'Text' }];
  const categories = Array.from({ length: 50 }, (_, at) => `category_${at}`.padEnd(100, 'x'));
  for (const key of categories) await declare(bot, key, fields);
  const requests = Array.from({ length: 20 }, (_, at) =>
    bot.request('POST', '/consents/request', { ...who, consent_version: `1.${at}`, categories }),
  );
  await stage.load().run({ url, connections: 1, requests, count: STEPS });
  return { bot, path: `/api/v1/data/export/${who.user_id}?guild_id=${who.guild_id}&format=full` };
}

/** Reads one of these documents; answers its bytes. */
async function read({ bot, path, form }) {
  const answer = await fetch(`${bot.url}${path}`, {
    ...(form && { method: 'POST', body: form }),
    headers: form
      ? { 'content-type': 'application/x-www-form-urlencoded' }
      : { authorization: `Bearer ${bot.key}` },
  });
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
  let bytes = 0;
  for await (const chunk of answer.body) bytes += chunk.length;
  return bytes;
}

/** Asks for a document `times` at once, and for small answers beside them. */
async function rowsOf(service, what, document, times, growthMib) {
  await read(document);
  let [bytes, slowestMs] = [0, 0];
  const measured = async () => {
    let isOver = false;
    const all = Promise.all(Array.from({ length: times }, () => read(document)))
      .then((lengths) => (bytes = lengths.reduce((sum, length) => sum + length, 0)))
      .finally(() => (isOver = true));
    while (!isOver) {
      slowestMs = Math.max(slowestMs, await timed(() => statusOf(document.bot)));
      await pause(10);
    }
    await all;
  };
  // Other processes make a measurement larger, and none smaller.
  const rounds = [await service.costOf(measured), await service.costOf(measured)];
  const [stopMs, growth] = ['stopMs', 'growth'].map((figure) =>
    Math.min(...rounds.map((round) => round[figure])),
  );
  const of = `${times} ${what}`;
  return [
    shown(`${of}: sent`, bytes / MIB, 'MiB'),
    shown(`${of}: slowest small request`, slowestMs, 'ms'),
    atMost(STOP_TIMES, `${of}: longest stop of the loop / ${SHORT_MS} ms`, stopMs / SHORT_MS),
    atMost(growthMib, `${of}: growth`, growth / MIB, 'MiB'),
  ];
}

/** Clients that ask for a copy and read nothing of it. */
async function rowsOfSilent(stage, service, { bot, path, form }) {
  const ask =
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
    `Content-Length: ${form.length}\r\n\r\n${form}`;
  let answered = 0;
  const held = await service.heldAfter(async () => {
    for (let n = 0; n < SILENT; n++) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
      stage.defer(() => socket.destroy());
      await once(
        socket.on('error', () => undefined),
        'connect',
      );
      socket.write(ask);
    }
    const endMs = performance.now() + SILENT_MS;
    while (performance.now() < endMs) {
      if ((await timed(() => statusOf(bot))) < SMALL_MS) answered++;
      await pause(50);
    }
  });
  await until(async () => (await fetch(`${service.url}/health/live`)).ok);
  const of = `${SILENT} clients that do not read`;
  return [
    atMost(HELD_MIB, `${of}: held`, held / MIB, 'MiB'),
    atLeast(10, `${of}: small requests answered within a second`, answered),
  ];
}

export async function run(stage) {
  const service = await stage.service({}, { watched: true });
  const history = await withHistory(stage, service);
  const values = await withValues(service);
  const copies = 'copies to read of 99 values of 64 KiB';
  return [
    ...(await rowsOf(
      service,
      'full exports of 3,000 steps',
      history,
      AT_ONCE,
      GROWTH_MIB[stage.engine.name],
    )),
    ...(await rowsOf(service, copies, values, 1, COPIES_MIB)),
    ...(await rowsOf(service, copies, values, 2, COPIES_MIB)),
    ...(await rowsOfSilent(stage, service, values)),
  ];
}
