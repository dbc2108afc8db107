import type { DiscordComponent, DiscordMessage } from './fake-discord';

// What Discord refuses, from the documentation of messages and components.

const BUTTON = 2;
const SELECT = 3;

/** Every limit that a message exceeds. */
export function faultsOf({ content = '', embeds = [], components = [] }: Partial<DiscordMessage>): string[] {
  const all = components.flatMap((row) => row.components);
  const ids = all.filter(({ url }) => url === undefined).map((one) => one.custom_id);
  const texts = embeds.flatMap(
    ({ title = '', description = '', footer }) => title + description + (footer?.text ?? ''),
  );
  const faults: [boolean, string][] = [
    [content.length > 2000, 'content'],
    [content === '' && embeds.length === 0, 'an empty message'],
    [embeds.length > 10, 'embeds'],
    [embeds.some(({ title = '' }) => title.length > 256), 'embed title'],
    [
      embeds.some(({ description = '' }) => description.length > 4096 || description.trim() === ''),
      'embed description',
    ],
    [embeds.some(({ footer }) => (footer?.text ?? '').length > 2048), 'embed footer'],
    [texts.join('').length > 6000, 'embeds in all'],
    [components.length > 5, 'rows'],
    [components.some((row) => row.components.length < 1 || row.components.length > 5), 'components of a row'],
    [new Set(ids).size < ids.length, 'custom_id twice'],
    [ids.some((id) => id.length < 1 || id.length > 100), 'custom_id'],
    ...all.map((one): [boolean, string] => [isFaulty(one), JSON.stringify(one)]),
  ];
  return faults.flatMap(([isFault, name]) => (isFault ? [name] : []));
}

const LINK = 5;

/** Whether Discord takes a button that opens an address. */
function isAddress(component: DiscordComponent, url: string): boolean {
  const { style, custom_id: id } = component as { style?: number; custom_id?: string };
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return (
    style === LINK && id === undefined && url.length <= 512 && isWeb && new URL(url).hostname.includes('.')
  );
}

function isFaulty(component: DiscordComponent): boolean {
  const { type, label = '', options = [], url } = component;
  if (url !== undefined && !isAddress(component, url)) return true;
  if (type === BUTTON) return label.length < 1 || label.length > 80;
  const { min_values: min = 1, max_values: max = 1 } = component as {
    min_values?: number;
    max_values?: number;
  };
  const values = options.map(({ value }) => value);
  return (
    type !== SELECT ||
    options.length < 1 ||
    options.length > 25 ||
    new Set(values).size < values.length ||
    options.some((one) => one.label.length < 1 || one.label.length > 100 || one.value.length > 100) ||
    min > max ||
    max > options.length ||
    ((component as { placeholder?: string }).placeholder ?? '').length > 150
  );
}
