import { ConsentRequiredError, NotFoundError, ProcessingRefusedError } from '@lethe/sdk';
import { type ConsentAsked, request, textOf } from './consent-request';
import { ACTS, customId, maskOf, placesOf } from './custom-id';
import { needsConsent } from './facts';
import { PATIENT } from './patient';
import { button, cut, LIMITS, type Reply, reply, type Row, row, type Select } from './reply';
import { labelShown } from './shown';
import { statesOf } from './status';
import type { Texts } from './texts';
import { failure, isNamed, once, shownPage, SOURCE, type Turn, verifyRow, when } from './turn';
import type { Then } from './waiting';
import { withoutConsentEmbeds } from './without-consent';

/** The state of the message: which page is shown, what is selected, and of which text. */
export interface ConsentState {
  readonly page?: string;
  readonly mask?: string;
  readonly binding?: string;
  /** The command that waits for the consent. */
  readonly waits?: string;
}

/** Asks for consent. Nothing is selected beforehand but what the user has already agreed to. */
export async function consent(turn: Turn, state: ConsentState = {}): Promise<Reply> {
  const { lethe, who, words, facts } = turn;
  if ((await facts.asked()).length === 0) return unasked(turn, state);
  const asked = await request(turn);
  const isKnown = state.binding === asked.binding;
  const notes = state.binding === undefined || isKnown ? [] : [words.say('consent_changed')];
  if (state.mask !== undefined && isKnown)
    return view(turn, asked, { ...state, chosen: placesOf(state.mask, asked.categories.length), notes });
  const status = await lethe.consents.status(who, PATIENT);
  const granted = status.status === 'accepted' ? grantedOf(status, asked) : [];
  if (asked.status === 'accepted')
    notes.push(words.say('consent_in_force', { when: when(status.accepted_at) }));
  return view(turn, asked, { waits: state.waits, chosen: granted, notes });
}

/** Nothing is asked for where no category needs a consent, and the command that waits for one begins at once. */
async function unasked(turn: Turn, { waits }: ConsentState): Promise<Reply> {
  const { facts, words } = turn;
  const categories = await facts.categories();
  if (categories.length === 0) return reply({ content: words.say('about_nothing') });
  const { then, isLost = false } = waits === undefined ? {} : turn.waiting.take(waits, turn.asked.userId);
  // A category that this bot does not ask for may need one.
  const isSome = categories.some(needsConsent);
  const embeds = isSome ? withoutConsentEmbeds(turn, categories) : [];
  const some = embeds.length > 0 ? 'about_intro_none' : 'consent_none';
  const lines = [words.say(isSome ? some : 'consent_not_needed')];
  if (isLost) lines.push(words.say('command_again'));
  return reply({
    content: lines.join('\n'),
    embeds,
    ...(then && { following: () => goOn(turn, then, 'failed') }),
  });
}

/** Selects in one of the menus; the others keep their selection. */
export async function choose(turn: Turn, given: readonly string[]): Promise<Reply> {
  const [menu = '', page, mask = '', binding = '', waits] = given;
  const { act } = turn.asked;
  const asked = await turn.facts.asked();
  const places = asked.map((_, place) => place);
  const inMenu = (place: number) => Math.floor(place / LIMITS.options) === Number(menu);
  const values = act.kind === 'component' ? act.values : [];
  const before = placesOf(mask, asked.length).filter((place) => !inMenu(place));
  const now = places.filter((place) => inMenu(place) && values.includes(asked[place]?.key ?? ''));
  return consent(turn, { page, mask: maskOf([...before, ...now]), binding, waits });
}

/**
 * Records the consent to what is selected, in the words that were shown. A failure keeps them with the button: what is done may have
 * no answer, and its next press says what holds.
 */
export async function agree(turn: Turn, parts: readonly string[]): Promise<Reply> {
  try {
    return await record(turn, parts);
  } catch (error) {
    const content = `${failure(turn, error)}\n${turn.words.say('consent_details')}`;
    return reply({ content, isNote: true });
  }
}

async function record(turn: Turn, [mask = '', binding = '', waits]: readonly string[]): Promise<Reply> {
  const { lethe, who, words, facts } = turn;
  // Since the message was sent, the last category that asks for a consent may have come to need none.
  if ((await facts.asked()).length === 0) return unasked(turn, { waits });
  const asked = await request(turn);
  const keys = placesOf(mask, asked.categories.length).map((place) => asked.categories[place]?.key ?? '');
  if (binding !== asked.binding || keys.length === 0) return consent(turn, { mask, binding, waits });
  const status = await lethe.consents.status(who, PATIENT);
  const granted = status.status === 'accepted' ? grantedOf(status, asked) : [];
  const dropped = granted
    .flatMap((place) => asked.categories[place]?.key ?? [])
    .filter((key) => !keys.includes(key));
  const given = { ...who, source: SOURCE };
  // What is no longer selected is withdrawn: the data stored under it is erased.
  if (dropped.length > 0)
    await lethe.consents.revoke({ ...given, categories: dropped }, once(turn, 'drop')).catch(unlessDecided);
  const { status: waiting, id } = dropped.length > 0 ? await request(turn) : asked;
  const accept = { consent_id: id, source: SOURCE, categories: keys };
  // A second press changes the same message: it has the receipt of the first.
  const decided = await (
    waiting === 'accepted'
      ? lethe.consents.receipt(who, PATIENT)
      : lethe.consents.accept(accept, once(turn, 'accept'))
  ).catch(unlessDecided);
  if (decided === undefined) return consent(turn, { mask, binding, waits });
  const { receipt } = decided;
  const files =
    receipt === undefined ? [] : [{ name: 'consent-receipt.jwt', data: new TextEncoder().encode(receipt) }];
  const labels = asked.categories
    .filter(({ key }) => keys.includes(key))
    .map((category) => {
      return `• ${cut(labelShown(asked.texts.categories, category, turn.asked.locale), LIMITS.label / 4)}`;
    });
  const lines = [words.say('consent_done'), ...labels, words.say('consent_withdraw')];
  if (files.length > 0) lines.push(words.say('consent_receipt'));
  const { then, isLost = false } = waits === undefined ? {} : turn.waiting.take(waits, turn.asked.userId);
  if (isLost) lines.push(words.say('command_again'));
  const content = cut(lines.join('\n'), LIMITS.content);
  const components = files.length > 0 ? verifyRow(turn) : [];
  return reply({
    content,
    files,
    components,
    ...(then && { following: () => goOn(turn, then, 'command_failed') }),
  });
}

/** Another press has decided meanwhile. */
function unlessDecided(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}

/** Continues the command. The consent is recorded before: no failure of the command is one of the consent. */
async function goOn(
  { report, words: { say } }: Turn,
  then: Then,
  failed: 'command_failed' | 'failed',
): Promise<Reply | undefined> {
  try {
    const said = await then();
    return typeof said === 'string' && said.trim() !== ''
      ? reply({ content: cut(said, LIMITS.content) })
      : undefined;
  } catch (error) {
    // Where nothing is asked for, the user cannot agree to it.
    const isAsked = failed === 'command_failed';
    if (error instanceof ConsentRequiredError && isAsked) return reply({ content: say('command_needs') });
    if (error instanceof ProcessingRefusedError) return reply({ content: say(refusalWord(error)) });
    report(error);
    return reply({ content: say(failed) });
  }
}

/** What the user is shown instead of a failure: it is their own decision. */
export const refusalWord = ({ reason }: ProcessingRefusedError): keyof Texts =>
  reason === 'restriction' ? 'command_restricted' : 'command_objected';

/** Records a no. What was agreed to before is not withdrawn by it. */
export async function decline(turn: Turn): Promise<Reply> {
  const { lethe, who, words } = turn;
  const { status } = await lethe.consents
    .decline({ ...who, source: SOURCE }, once(turn, 'decline'))
    .catch(async (error: unknown) => {
      // Nothing waits for an answer: what is agreed to stays.
      if (error instanceof NotFoundError) return lethe.consents.status(who, PATIENT);
      throw error;
    });
  return reply({ content: words.say(status === 'accepted' ? 'consent_declined_kept' : 'consent_declined') });
}

type Status = Parameters<typeof statesOf>[0];

function grantedOf(status: Status, { categories }: ConsentAsked): number[] {
  const states = statesOf(status, categories);
  return [...states.values()].flatMap((state, place) => (state === 'accepted' ? [place] : []));
}

interface Viewed extends Pick<ConsentState, 'page' | 'waits'> {
  readonly chosen: readonly number[];
  readonly notes: string[];
}

/** The buttons that agree are on the last page: a user has seen every page before. */
function view(turn: Turn, asked: ConsentAsked, { page: at, chosen, notes, waits }: Viewed): Reply {
  const { say } = turn.words;
  const { version, digest, binding, texts } = asked;
  const mask = maskOf(chosen);
  const parts = [binding, ...(waits === undefined ? [] : [waits])];
  const shown = shownPage(turn, {
    ...{ text: textOf(asked, say), at: Number(at ?? 0), view: 'consent', parts: [mask, ...parts] },
  });
  const named = isNamed(version) ? say('consent_version', { version, digest }) : undefined;
  const footer = [named, shown.embed.footer?.text].filter(Boolean).join(' · ');
  const embed = { ...shown.embed, ...(footer !== '' && { footer: { text: footer } }) };
  const all = maskOf(asked.categories.map((_, place) => place));
  const decide = row(
    button('success', texts.accept_label ?? say('consent_agree'), customId(ACTS.agree, all, ...parts)),
    ...(asked.categories.length === 1
      ? []
      : [
          button(
            'primary',
            say('consent_chosen', { count: chosen.length }),
            customId(ACTS.agreeToChosen, mask, ...parts),
            chosen.length === 0,
          ),
        ]),
    button('secondary', texts.decline_label ?? say('consent_decline'), customId(ACTS.decline)),
  );
  const menus = asked.categories.length === 1 ? [] : menusOf(turn, asked, chosen, [at ?? 0, mask, ...parts]);
  notes.push(say(shown.isLast ? 'consent_details' : 'consent_read_on'));
  const components = shown.isLast ? [...menus, decide, ...shown.navigation] : shown.navigation;
  return reply({ content: notes.join('\n'), embeds: [embed], components });
}

function menusOf(
  { words, asked: { locale } }: Turn,
  asked: ConsentAsked,
  chosen: readonly number[],
  state: readonly (string | number)[],
): Row[] {
  const menus: Row[] = [];
  for (let first = 0; first < asked.categories.length; first += LIMITS.options) {
    const options = asked.categories.slice(first, first + LIMITS.options).map((category, place) => ({
      label: cut(labelShown(asked.texts.categories, category, locale), LIMITS.label),
      value: category.key,
      default: chosen.includes(first + place),
    }));
    const id = customId(ACTS.choose, menus.length, ...state);
    const menu: Select = {
      ...{ type: 3, custom_id: id, placeholder: cut(words.say('consent_choose'), LIMITS.label) },
      ...{ min_values: 0, max_values: options.length, options },
    };
    menus.push(row(menu));
  }
  return menus;
}
