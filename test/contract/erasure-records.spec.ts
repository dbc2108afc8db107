import { act } from '../support/privacy-page';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const service = useServiceInProcess({ EVIDENCE_RETENTION_DAYS: '30', BACKUP_RETENTION_DAYS: '35' });

describe('where backups are kept for longer than evidence', () => {
  it('page, notice and record say that an erasure is on record as long as backups are kept', async () => {
    const bot = await service.registerBot();
    await bot.put(`/bots/${bot.id}/notice-settings`, { public: true, controller_name: 'Robin Example' });
    const who = subject();
    await bot.hasConsent(who);
    const { url } = (await bot.post<{ url: string }>('/privacy-links', { ...who, language: 'en' })).data;
    const texts = {
      page: (await act(url, 'forget', 0, '/forget')).text,
      notice: await (await fetch(`${service.url}/notice/${bot.id}?language=en`)).text(),
      record: (await bot.get(`/bots/${bot.id}/processing-record?format=markdown`)).text,
    };
    expect(texts.page).toContain('The record of the erasure has your id for 35 more days, encrypted.');
    expect(texts.page).toContain('enthält deine ID noch 35 Tage lang, nur verschlüsselt.');
    expect(texts.notice).toContain(
      'The history of your consent is kept as evidence for 30 days after its end',
    );
    expect(texts.notice).toContain('The record of the erasure itself has your id for 35 days, encrypted.');
    expect(texts.record).toContain('History of consents, after their end, and audit events: 30 days\n');
    expect(texts.record).toContain('Evidence of erasures, after their end: 35 days\n');
  });
});
