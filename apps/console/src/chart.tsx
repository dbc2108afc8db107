import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useWords } from './language';
import { onScheme } from './scheme';
import { localeOf } from './times';

/** One row of numbers of a plot. Its colour is a custom property of the style sheet, so that it fits a light and a dark page. */
export interface Line {
  readonly name: string;
  readonly colour: 'a' | 'b' | 'c' | 'd';
  /** Null where there was nothing to measure. */
  readonly values: readonly (number | null)[];
  /** Bars that are drawn below zero: what ended beside what began. */
  readonly isBelow?: boolean;
}

export interface Plot {
  /** Bars, stacked, for counts; lines for what is measured. */
  readonly kind: 'bars' | 'lines';
  readonly lines: readonly Line[];
}

const HEIGHT = 200;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const HOURS = [1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR_S);
const DAYS = [1, 2, 7, 14, 28, 56].map((days) => days * DAY_S);
const WHOLE = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
/** So that no line is told from another one by its colour alone. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3]];

/** A custom property as the colour that it has at the moment: a canvas knows neither `var()` nor `light-dark()`. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** The heights of stacked bars: each ends where the ones before it and its own number end. */
function stacked(lines: readonly Line[]): number[][] {
  const above: number[] = [];
  const below: number[] = [];
  return lines.map(({ values, isBelow = false }) =>
    values.map((value, at) => {
      const sums = isBelow ? below : above;
      const sum = (sums[at] ?? 0) + (isBelow ? -1 : 1) * (value ?? 0);
      sums[at] = sum;
      return sum;
    }),
  );
}

/** The form of a moment: its hour, or its day. */
function formOf(language: string, withHours: boolean, isLong = false): Intl.DateTimeFormat {
  const day = { day: 'numeric', month: 'short' } as const;
  const hour = { hour: '2-digit', minute: '2-digit' } as const;
  const parts = withHours ? { ...(isLong && day), ...hour } : day;
  return new Intl.DateTimeFormat(language, { ...parts, timeZone: 'UTC' });
}

/** The plot in `element`, and its end. */
function drawn(
  element: HTMLElement,
  { kind, lines }: Plot,
  given: {
    readonly language: string;
    readonly withHours: boolean;
    readonly times: readonly number[];
    readonly onMoment: (at: number | null) => void;
  },
): () => void {
  const { language, withHours, times, onMoment } = given;
  const form = formOf(language, withHours);
  const counts = new Intl.NumberFormat(language);
  const isBars = kind === 'bars';
  const step = withHours ? HOUR_S : DAY_S;
  // The highest bars first: the parts of a stack are drawn over its whole.
  const rows = (isBars ? stacked(lines) : lines.map(({ values }) => [...values]))
    .map((values, at) => ({ values, colour: lines[at]?.colour ?? 'a', dash: DASHES[at] ?? [] }))
    .reverse();
  const draw = (): uPlot => {
    const of = (name: string): string => colourOf(element, name);
    const axis = {
      stroke: of('--muted'),
      grid: { stroke: of('--line'), width: 1 },
      ticks: { show: false },
    };
    return new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
        hooks: { setCursor: [({ cursor }) => onMoment(cursor.idx ?? null)] },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 30,
            space: 64,
            incrs: withHours ? HOURS : DAYS,
            values: (_, at) => at.map((each) => form.format(each * 1000)),
          },
          {
            ...axis,
            size: (_, texts) => 20 + 8 * Math.max(1, ...(texts ?? []).map((text) => text.length)),
            incrs: WHOLE,
            values: (_, at) => at.map((each) => counts.format(Math.abs(each))),
          },
        ],
        scales: {
          x: { range: (_, min, max) => (isBars ? [min - step / 2, max + step / 2] : [min, max]) },
          y: { range: (_, min, max) => [Math.min(0, min * 1.1), Math.max(1, max * 1.1)] },
        },
        series: [
          {},
          ...rows.map(({ colour, dash }) =>
            isBars
              ? {
                  fill: of(`--plot-${colour}`),
                  width: 0,
                  paths: uPlot.paths.bars?.({ size: [0.75, 48] }),
                  points: { show: false },
                }
              : {
                  stroke: of(`--plot-${colour}`),
                  width: 2,
                  dash: [...dash],
                  points: { show: true, size: 5 },
                },
          ),
        ],
      },
      [[...times], ...rows.map(({ values }) => values)],
      element,
    );
  };
  let plot = draw();
  const endOfScheme = onScheme(() => {
    plot.destroy();
    plot = draw();
  });
  const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
  sizes.observe(element);
  return () => {
    endOfScheme();
    sizes.disconnect();
    plot.destroy();
  };
}

/**
 * A plot over time. `times` are Unix seconds. Its legend has numbers only while a pointer is at a moment; a table with the same
 * numbers is beside it for everybody else.
 */
export function Chart({
  title,
  withHours,
  times,
  plot,
}: {
  readonly title: string;
  readonly withHours: boolean;
  readonly times: readonly number[];
  readonly plot: Plot;
}) {
  const { count, language: chosen } = useWords();
  const language = localeOf(chosen);
  const place = useRef<HTMLDivElement>(null);
  const [moment, setMoment] = useState<number | null>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    return drawn(element, plot, { language, withHours, times, onMoment: setMoment });
  }, [times, plot, language, withHours]);
  const at = moment === null ? undefined : times[moment];
  return (
    <div class="chart">
      <div ref={place} role="img" aria-label={title} />
      <p class="legend">
        {plot.lines.map(({ name, colour, values }) => (
          <span key={name} class={`mark ${colour}`}>
            {name}
            {moment !== null && <b>{values[moment] == null ? '–' : count(values[moment])}</b>}
          </span>
        ))}
        {at !== undefined && <span>{formOf(language, withHours, true).format(at * 1000)}</span>}
      </p>
    </div>
  );
}
