import type { DestinationStream } from 'pino';

/** The names and colours of the levels of pino. */
const LEVELS: Readonly<Record<number, readonly [name: string, colour: number]>> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 36],
  30: ['INFO', 32],
  40: ['WARN', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 31],
};

type Line = Readonly<Record<string, unknown>>;
type Paint = (colour: number, text: string) => string;

const coloured: Paint = (colour, text) => `\u001b[${colour}m${text}\u001b[0m`;
const plain: Paint = (_, text) => text;

/** The log in lines for people, made from its JSON: the same content, so that it holds nothing that the JSON does not. */
export class PrettyLog implements DestinationStream {
  private readonly paint: Paint;

  constructor(
    private readonly destination: DestinationStream,
    hasColours: boolean,
  ) {
    this.paint = hasColours ? coloured : plain;
  }

  write(line: string): void {
    this.destination.write(this.pretty(line));
  }

  private pretty(text: string): string {
    const { level, time, msg, context, frames, ...rest } = JSON.parse(text) as Line;
    const [name, colour] = LEVELS[Number(level)] ?? ['', 0];
    const { paint } = this;
    const words = [
      paint(90, String(time).slice(11, 23)),
      paint(colour, name.padEnd(5)),
      ...(context === undefined ? [] : [paint(90, `${clean(context)}:`)]),
      ...(msg === 'request' ? requestWords(rest, paint) : [clean(msg), ...fieldWords(rest, paint)]),
    ];
    const places = typeof frames === 'string' ? frames.split('\n').map((place) => `\n  ${clean(place)}`) : [];
    return `${words.join(' ')}${places.join('')}\n`;
  }
}

/** A request is read at a glance: what was asked, what was answered, how long it took. */
function requestWords({ method, route, status, durationMs, ...rest }: Line, paint: Paint): string[] {
  const answered = Number(status);
  const colour = answered >= 500 ? 31 : answered >= 400 ? 33 : 32;
  const asked = `${clean(method)} ${route === null ? 'unknown path' : clean(route)}`;
  return [asked, paint(colour, clean(status)), `${clean(durationMs)} ms`, ...fieldWords(rest, paint)];
}

function fieldWords(fields: Line, paint: Paint): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => paint(90, `${name}=${clean(value)}`));
}

/** No control character reaches the terminal, which could obey it. */
function clean(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
