const MIB = 2 ** 20;

const filled = (text, length) => text.repeat(Math.floor(length / text.length));

/** So many different names of an object that they fill `length`. */
function names(length, value = 1) {
  let text = '';
  for (let at = 0; text.length < length; at++) text += `,"${at.toString(36)}":${value}`;
  return text;
}

const itemsOf = (people, category, data, count = 100) =>
  JSON.stringify({ items: people.slice(0, count).map((who, at) => ({ ...who, category, data: data(at) })) });
const lists = (length) => JSON.parse(`[${filled('[],', length)}0]`);
const four = (item) => `{"items":[${Array(4).fill(item).join(',')}]}`;

/** The single request that costs the most. */
export const largestSingle = () => `{"a":1${names(MIB / 4 - 100)}}`;

/** The batches that cost the most, of the longest that is taken by default where nothing else is said. */
export const BODIES = {
  '100 items of 32 KiB of text': (people, category) =>
    itemsOf(people, category, (at) => ({ text: String(at).padEnd(32_600, 'x') })),
  '100 items of small lists': (people, category) =>
    itemsOf(people, category, () => ({ tree: lists(MIB / 110) })),
  '16 items of 63 KiB of small lists': (people, category) =>
    itemsOf(people, category, () => ({ tree: lists(63_000) }), 16),
  '4 items with as many names as fit': () => four(largestSingle()),
  'values of null under many names': (people, category) =>
    itemsOf(people, category, () => JSON.parse(`{"a":null${names(240_000, 'null')}}`), 4),
  'as many items as fit': () => `{"items":[${filled('1,', MIB - 100)}1]}`,
  'a nest in each item': () => four(filled('[', MIB / 9) + filled(']', MIB / 9)),
  'a nest beside the items': () =>
    `{"a":${filled('[', MIB / 2 - 50)}${filled(']', MIB / 2 - 50)},"items":[]}`,
};
