import { setTimeout } from 'node:timers/promises';
import type { Lethe, Schemas } from '@lethe/sdk';
import { EXIT, Failure, refused } from '../failures';
import { many } from '../output';
import { PATIENT, type Session } from '../session';
import type { Person } from './canaries';
import { changeState, type HuntState, readState, requireSame } from './hunt-state';

/** The pauses between two looks at an erasure, each twice the one before; the longest is below the limit of the free tier. */
const LOOK_MS = { first: 200, most: 3_000 };

type Erasure = Schemas['DeletionRequestView'];

/** Erases the people of a state, whatever of them was planted, and waits for the holders. Repeat it when it was interrupted. */
export async function erase(session: Session, options: { state: string; wait: number }): Promise<void> {
  const { output } = session;
  let state = readState(options.state);
  const lethe = session.client();
  requireSame(options.state, state, session.url, (await lethe.bots.me()).id);
  if (state.stage === 'planting')
    output.note('The plant was interrupted. What was planted is erased; plant again for a hunt.');
  const save = (change: Partial<HuntState>): void => {
    state = { ...state, ...change };
    changeState(options.state, state);
  };
  // The erasures that an earlier call asked for are waited for; once they were complete, the bot may have met the people again.
  if (state.stage !== 'erasing')
    save({ stage: 'erasing', people: state.people.map((one) => ({ ...one, requests: [] })) });
  for (const [at, person] of state.people.entries()) {
    if (person.requests.length > 0) continue;
    const requests = await forgotten(lethe, person, state.guild_id);
    save({ people: state.people.with(at, { ...person, requests }) });
  }
  const endMs = Date.now() + options.wait * 1000;
  const kept = new Set<string>();
  for (const id of state.people.flatMap(({ requests }) => requests))
    for (const one of (await covered(lethe, id, endMs)).coverage?.holders ?? [])
      if (one.result === 'kept') kept.add(one.key);
  save({ stage: 'erased' });
  if (kept.size > 0)
    output.note(`Kept something under a legal basis, which a search finds: ${[...kept].join(', ')}.`);
  output.result(
    { state: options.state, erased: state.people, kept: [...kept] },
    `Erased ${many(state.people.length, 'user')}${kept.size > 0 ? '' : ', and every holder of the bot has answered'}.
Then: lethe hunt search PATH… with dumps, logs, caches and backups that were made after this.`,
  );
}

/** Erases a person in every guild, and in the guild of the hunt also where nothing is held: holders of the bot are asked then too. */
async function forgotten(lethe: Lethe, { user_id }: Person, guild_id: string): Promise<string[]> {
  const { requests } = await lethe.privacy.forgetEverywhere({ user_id }, PATIENT);
  const own = requests.some((one) => one.guild_id === guild_id)
    ? []
    : [await lethe.privacy.forget({ user_id, guild_id }, PATIENT)];
  return [...requests, ...own].map((one) => one.request_id);
}

/** The erasure once it is completed and every holder has answered. @throws Failure that names who has not, at `endMs` */
async function covered(lethe: Lethe, id: string, endMs: number): Promise<Erasure> {
  for (let pauseMs = LOOK_MS.first; ; pauseMs = Math.min(LOOK_MS.most, 2 * pauseMs)) {
    const found = await lethe.privacy.status(id, PATIENT);
    if (found.status === 'failed')
      throw refused(`The erasure ${id} failed.`, 'Ask the operator of the service, then run this again.');
    if (found.status === 'completed' && found.coverage?.complete !== false) return found;
    if (Date.now() >= endMs) throw silent(found);
    await setTimeout(Math.max(0, Math.min(pauseMs, endMs - Date.now())));
  }
}

function silent({ request_id, status, coverage }: Erasure): Failure {
  const missing = (coverage?.holders ?? []).filter(({ result }) => !/^(erased|nothing|kept)$/.test(result));
  const who = missing.map(({ key, result }) => `${key} (${result})`).join(', ');
  return new Failure(
    EXIT.refused,
    who === ''
      ? `The erasure ${request_id} is still ${status}.`
      : `Not every holder of the bot has answered: ${who}.`,
    'Is the process with this holder started? lethe holders tasks KEY lists what it owes. Then run lethe hunt erase again.',
    'coverage_incomplete',
  );
}
