import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** One line of a plot. Its colour is a custom property of the style sheet, so that it fits a light and a dark page. */
export interface Line {
  readonly name: string;
  readonly colour: `--${string}`;
  /** Null where there was nothing to measure. */
  readonly values: readonly (number | null)[];
}

const HEIGHT = 220;
/** So that no line is told from another one by its colour alone. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [12, 3, 2, 3]];

/** A plot of counts over time. `times` are Unix seconds. A table with the same numbers is beside it for everybody else. */
export function Chart({
  title,
  timeName,
  language,
  withHours,
  times,
  lines,
}: {
  readonly title: string;
  readonly timeName: string;
  readonly language: string;
  readonly withHours: boolean;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const hour = withHours ? ({ hour: '2-digit', minute: '2-digit' } as const) : {};
    const days = new Intl.DateTimeFormat(language, {
      ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
      ...hour,
    });
    const counts = new Intl.NumberFormat(language);
    const draw = (): uPlot => {
      const style = getComputedStyle(document.documentElement);
      const of = (name: string): string => style.getPropertyValue(name).trim();
      const axis = {
        stroke: of('--muted'),
        grid: { stroke: of('--line'), width: 1 },
        ticks: { stroke: of('--line'), width: 1 },
      };
      return new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
          axes: [
            {
              ...axis,
              space: withHours ? 110 : 60,
              values: (_, at) => at.map((each) => days.format(each * 1000)),
            },
            { ...axis, size: 64, values: (_, at) => at.map((each) => counts.format(each)) },
          ],
          scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
          series: [
            { label: timeName, value: (_, at) => (at == null ? '' : days.format(at * 1000)) },
            ...lines.map(({ name, colour }, at) => ({
              label: name,
              value: (_: uPlot, value: number | null) => (value == null ? '' : counts.format(value)),
              dash: [...(DASHES[at] ?? [])],
              stroke: of(colour),
              width: 2,
              points: { show: times.length < 60, size: 5 },
            })),
          ],
        },
        [[...times], ...lines.map(({ values }) => [...values])],
        element,
      );
    };
    let plot = draw();
    const redraw = (): void => {
      plot.destroy();
      plot = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    scheme.addEventListener('change', redraw);
    sizes.observe(element);
    return () => {
      scheme.removeEventListener('change', redraw);
      sizes.disconnect();
      plot.destroy();
    };
  }, [times, lines, language, withHours]);
  return <div ref={place} class="chart" role="img" aria-label={title} />;
}
