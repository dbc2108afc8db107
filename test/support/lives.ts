import type { Answer } from './client';
import type { Bot } from './bot';
import { oneOf } from './chance';
import { subject, type SubjectIds } from './snowflakes';

/** What can be seen of a subject. */
export interface State {
  readonly status: 'none' | 'pending' | 'accepted' | 'revoked';
  /** Of an accepted consent. */
  readonly value?: number;
  /** The types of its audit events, oldest first. */
  readonly events: readonly string[];
}

interface Act {
  /** From which states it is taken; acts named twice are taken twice as often. */
  readonly from: readonly State['status'][];
  readonly send: (bot: Bot, who: SubjectIds, turn: number) => Promise<Answer>;
  readonly after: (state: State, turn: number) => State;
}

const ACTS: readonly Act[] = [
  {
    from: ['none', 'revoked'],
    send: (bot, who) => bot.post('/consents/request', { ...who, consent_version: '1' }),
    after: (state) => with_(state, { status: 'pending' }, 'consent_requested'),
  },
  {
    from: ['pending'],
    send: (bot, who) => bot.post('/consents/accept', { ...who, consent_version: '1' }),
    after: (state) => with_(state, { status: 'accepted' }, 'consent_accepted'),
  },
  {
    from: ['accepted', 'accepted', 'accepted'],
    send: (bot, who, turn) => bot.post('/data/submit', { ...who, category: 'profile', data: { turn } }),
    after: (state, turn) => with_(state, { value: turn }, 'data_submitted'),
  },
  {
    from: ['pending', 'accepted', 'revoked'],
    send: (bot, who, turn) =>
      bot.post('/audit/event', { ...who, event_type: 'data_deleted', details: { turn } }),
    after: (state) => with_(state, {}, 'data_deleted'),
  },
  {
    from: ['accepted'],
    send: (bot, who) => bot.export(who),
    after: (state) => with_(state, {}, 'data_exported'),
  },
  {
    from: ['accepted'],
    send: (bot, who) => bot.post('/consents/revoke', { ...who }),
    after: (state) => with_(state, { status: 'revoked' }, 'consent_revoked'),
  },
  {
    from: ['pending', 'accepted', 'revoked'],
    send: (bot, who) => bot.post('/gdpr/forget-user', { ...who }),
    after: (state) =>
      with_({ events: state.events, status: 'none' }, {}, 'deletion_requested', 'deletion_completed'),
  },
];

function with_(state: State, more: Partial<State>, ...events: readonly string[]): State {
  return { ...state, ...more, events: [...state.events, ...events] };
}

/** One user: what was acknowledged, and the act whose answer was cut off. */
export class Life {
  readonly who = subject();
  /** The state after the last acknowledged act. */
  known: State = { status: 'none', events: [] };
  /** The state if the act without an answer took effect. */
  cut: State | undefined;
  /** The requests of its erasures that were answered. */
  readonly erasures: string[] = [];
  private turn = 0;

  constructor(readonly bot: Bot) {}

  /** Acts once. @throws Error for a refusal, and when the service ends before its answer */
  async act(): Promise<Answer> {
    const { bot, who, known } = this;
    const acts = ACTS.flatMap((act) => act.from.filter((from) => from === known.status).map(() => act));
    const act = oneOf(acts);
    const after = act.after(known, ++this.turn);
    this.cut = after;
    const answer = await act.send(bot, who, this.turn);
    if (answer.status >= 300) throw new Error(`refused: ${answer.status} ${answer.text}`);
    this.known = after;
    this.cut = undefined;
    if (after.status === 'none') this.erasures.push(String(answer.data['request_id']));
    return answer;
  }

  /** Compares with what is there; answers a description of every difference. An act without an answer is there or not. */
  async differences(): Promise<string[]> {
    const { bot, who } = this;
    const status = String((await bot.status(who)).data['status']);
    const events = await bot.eventTypes(who);
    const seen = (state: State): boolean =>
      state.status === status && JSON.stringify(state.events) === JSON.stringify(events);
    const state = [this.known, ...(this.cut ? [this.cut] : [])].find(seen);
    if (state === undefined)
      return [`${JSON.stringify([this.known, this.cut])}, but it is ${status} ${events.join()}`];
    this.known = state;
    this.cut = undefined;
    if (status !== 'accepted' && status !== 'none') return [];
    const answer = await bot.export<{ data: { profile?: { turn: number } } }>(who);
    if (status === 'none') return answer.status === 404 ? [] : ['what is erased is exported'];
    this.known = with_(state, {}, 'data_exported');
    const value = answer.data.data.profile?.turn;
    return value === state.value ? [] : [`the value ${state.value}, but it is ${value}`];
  }
}
