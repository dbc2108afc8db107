/** The eight groups of an IPv6 address. The URL parser normalises every notation of it. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((text) => parseInt(text, 16));
  if (tail === undefined) return read(head);
  const [front, back] = [read(head), read(tail)];
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}
