import type { NamedSubject } from '@app/crypto';
import { ExportAct } from './export.act';

const subject = { botId: 'bot' } as NamedSubject;
const act = new ExportAct({} as never, {} as never, {} as never, {} as never);

describe('what is recorded of an export', () => {
  it.each([
    ['the record of one guild', { full: false }, '{}', { format: 'record' }],
    ['the full form', { full: true }, '{}', { format: 'full' }],
    ['a guild of all', { full: false, scope: 'all_guilds' }, '{}', { format: 'record', scope: 'all_guilds' }],
    ['one without a document, which is recorded when it is sent', { full: true }, undefined, undefined],
  ] as const)('%s', (_, form, text, details) => {
    const wanted = { ...form, by: 'key:sk_live_a' };
    const events = details === undefined ? [] : [{ subject, type: 'data_exported', details, by: wanted.by }];
    expect(act.decide({ subject, wanted, text })).toStrictEqual({ text, acts: events });
  });
});
