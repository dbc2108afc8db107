import { setTimeout as pause } from 'node:timers/promises';
import { Tenant } from '../bench/tenant.mjs';

const WAIT_MAX_MS = 60_000;
let nextId = 300_000_000_000_000_000n;

export const snowflake = () => String(nextId++);
export const subject = () => ({ user_id: snowflake(), guild_id: snowflake() });

/** A bot with the category `profile`. */
export const newBot = (url, more = {}) => Tenant.register(url, 0, { platform_bot_id: snowflake(), ...more });

/** The same bot, called at another process. */
export const at = (bot, { url }) => Object.assign(Object.create(Tenant.prototype), bot, { url });

export async function hasConsent(bot, who) {
  await bot.call('POST', '/consents/request', { ...who, consent_version: '1.0' });
  await bot.call('POST', '/consents/accept', { ...who, consent_version: '1.0' });
}

/** Erases a new subject, and answers the id of the request. */
export async function forget(bot, who = subject()) {
  return (await bot.call('POST', '/gdpr/forget-user', who)).request_id;
}

export const statusOf = (bot, { user_id: user, guild_id: guild } = subject()) =>
  fetch(`${bot.url}/api/v1/consents/status?user_id=${user}&guild_id=${guild}`, {
    headers: { authorization: `Bearer ${bot.key}` },
  }).then((response) => response.text());

/** Milliseconds that `work` takes. */
export async function timed(work) {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

/** Durations of `times` calls, one after another. */
export async function durations(times, work) {
  const all = [];
  for (let n = 0; n < times; n++) all.push(await timed(() => work(n)));
  return all;
}

/** Waits for a condition. @throws Error after a minute. */
export async function until(condition, everyMs = 10) {
  const endMs = performance.now() + WAIT_MAX_MS;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`waited a minute for ${condition}`);
    await pause(everyMs);
  }
}
