import { BotAdministration } from '@app/bots';
import { field } from '../support/bot';
import { forms, get, send } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const service = useServiceInProcess();

describe('the privacy page of a suspended bot', () => {
  it.each([
    ['en', 'you can see, export, withdraw, object, restrict and erase, and nothing else.'],
    [
      'de',
      'Du kannst ansehen, exportieren, widerrufen, widersprechen, einschränken und löschen, sonst nichts.',
    ],
  ])(
    'says in %s what users can do: they object and restrict, and no restriction ends',
    async (language, can) => {
      const bot = await service.registerBot();
      const who = subject();
      await bot.hasCategory('stats', [field('value')], { legal_basis: 'legitimate_interests' });
      await bot.hasConsent(who);
      await bot.post('/data/restrict', { ...who, category: 'stats' });
      const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language })).data;
      const refusing = `${url}/refuse?of=${who.guild_id}`;
      const [ending] = forms(await get(refusing), 'unrestrict');
      await service.app.get(BotAdministration, { strict: false }).suspend(bot.id);

      const form = await get(refusing);
      for (const { text } of [await get(url), form]) expect(text).toContain(can);
      expect(forms(form, 'unrestrict')).toHaveLength(0);
      const refused = await send(url, 'unrestrict', ending!);
      expect(refused.status).toBe(403);
      for (const tag of ['de', 'en'])
        expect(refused.text).toContain(`href="${new URL(url).pathname}?lang=${tag}"`);
      expect((await bot.post('/data/unrestrict', who)).error.code).toBe('suspended');
      for (const act of ['restrict', 'object'] as const) {
        const fields = forms(form, act)[0]!;
        fields.set('category', '*');
        expect((await send(url, act, fields)).status).toBe(303);
      }
      const { data } = await bot.get(`/data/refusals/${who.user_id}?guild_id=${who.guild_id}`);
      expect(data).toMatchObject({
        objections: [{ category: null }],
        restrictions: [{ category: null }, { category: 'stats' }],
      });
    },
  );
});
