import { SubjectDataHolders } from '@app/subjects';
import { type Bot, field } from './bot';
import { Client, PREFIX } from './client';
import { rawRequest } from './raw-socket';
import type { Service } from './service';
import { subject } from './snowflakes';

/** The whole life of a user of `bot` with all possible errors. Answers the texts that must appear nowhere. */
export async function markedLife(service: Service, bot: Bot): Promise<string[]> {
  const who = subject();
  const [value, details, label, server] = ['marker-value', 'marker-details', 'marker-label', 'marker-server'];
  await bot.post('/servers/register', { guild_id: who.guild_id, name: server });
  await bot.hasCategory('profile', [field('value')], { label_en: label });
  await bot.hasConsent(who);
  await bot.hasData(who, 'profile', { value });
  await bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: details } });
  await bot.export(who);
  await bot.export(who, '&format=full');
  await bot.get(`/audit/events?user_id=${who.user_id}`);
  await bot.post('/data/submit', { ...who, category: 'profile', data: { wrong: value } });
  await bot.post('/data/submit', { ...who, category: 'profile', data: { value: 1 } });
  await bot.send('POST', `${PREFIX}/data/submit`, {
    headers: { 'content-type': 'application/json' },
    raw: `{"${value}`,
  });
  await bot.get(`/nothing/${who.user_id}?user=${who.user_id}`);
  await bot.get(`/data/export/${who.user_id}`);
  await bot.get(`/consents/status?user_id=${who.user_id}&user_id=${who.user_id}`);
  await bot.send('GET', `/${who.user_id}`);
  await bot.get(`/servers?api_key=${bot.key}`);
  await bot.get(`/servers`, { 'x-request-id': `<${bot.key}>` });
  await new Client(service.url, `${bot.key}x`).get('/servers');
  await rawRequest(service.port, `GARBAGE ${bot.key} ${who.user_id}\r\n\r\n`);
  await bot.hasRevoked(who);
  const [holder] = service.app.get(SubjectDataHolders).all();
  if (holder === undefined) throw new Error('there is no holder');
  const fault = Object.assign(new Error(`fault with ${value}`), {
    query: 'SELECT ?',
    parameters: [who.user_id, value],
  });
  const broken = jest.spyOn(holder, 'erase').mockRejectedValueOnce(fault);
  await bot.post('/gdpr/forget-user', who);
  broken.mockRestore();
  await bot.hasForgotten(who);
  return [who.user_id, who.guild_id, value, details, label, server];
}

/** The texts by which a bot is known, and parts of them. */
export function secretsOf({ key, webhookSecret }: Bot): string[] {
  return [key, key.slice(8, 30), webhookSecret, webhookSecret.slice(6, 20)];
}
