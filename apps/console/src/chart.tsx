import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onScheme } from './scheme';

/** One line of a plot. Its colour is a custom property of the style sheet, so that it fits a light and a dark page. */
export interface Line {
  readonly name: string;
  readonly colour: `--${string}`;
  readonly values: readonly number[];
}

const HEIGHT = 240;

/** A custom property as the colour that it has at the moment: a canvas knows neither `var()` nor `light-dark()`. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** A plot of counts over time. `times` are Unix seconds. A table with the same numbers is beside it for everybody else. */
export function Chart({
  title,
  timeName,
  language,
  times,
  lines,
}: {
  readonly title: string;
  readonly timeName: string;
  readonly language: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const days = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
    const draw = (): uPlot => {
      const of = (name: string): string => colourOf(element, name);
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
          axes: [{ ...axis, values: (_, seconds) => seconds.map((at) => days.format(at * 1000)) }, axis],
          scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
          series: [
            { label: timeName, value: (_, at) => (at == null ? '–' : days.format(at * 1000)) },
            ...lines.map(({ name, colour }) => ({
              label: name,
              stroke: of(colour),
              width: 2,
              points: { show: times.length < 40 },
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
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    const endOfScheme = onScheme(redraw);
    sizes.observe(element);
    return () => {
      endOfScheme();
      sizes.disconnect();
      plot.destroy();
    };
  }, [times, lines, language]);
  return <div ref={place} class="chart" role="img" aria-label={title} />;
}
