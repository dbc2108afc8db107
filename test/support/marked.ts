import { type Bot, field } from './bot';
import type { Service } from './service';
import { subject, type SubjectIds } from './snowflakes';

/** A bot and a subject with a stored text that occurs nowhere else; new ones for each test. */
export class Marked {
  bot: Bot;
  who: SubjectIds;
  marker: string;
  private count = 0;

  async begin(service: Service): Promise<void> {
    this.bot = await service.registerBot();
    this.who = subject();
    this.marker = `marker-${++this.count}-of-the-erased`;
    await this.bot.hasCategory('profile', [field('value'), field('extra', 'json')]);
  }

  /** Stores the marker in every place for values and details. */
  async stores(one: SubjectIds): Promise<void> {
    const { bot, marker } = this;
    await bot.hasConsent(one);
    await bot.hasData(one, 'profile', { value: marker, extra: { deep: [marker] } });
    await bot.post('/audit/event', { ...one, event_type: 'data_exported', details: { text: marker } });
    await bot.hasData(one, 'profile', { value: `${marker} again` });
  }
}

/** Begins anew before each test of the calling file. */
export function useMarked(service: Service): Marked {
  const marked = new Marked();
  beforeEach(() => marked.begin(service));
  return marked;
}
