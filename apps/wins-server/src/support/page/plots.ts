/** Plots as SVG. Places along an axis are percentages, so that a plot is as wide as the page and its text keeps its size. */
import { html, table, type Html } from './html.js';
import type { Life } from '../../kernel/events/daemon-lives.js';
import type { Moment } from './history.js';
import { isUtcHere, localTick, utc, utcTick, type TimeAxis } from './time-axis.js';

const PLOT_PX = 72;
/** Parts of a lane. A life that is shorter than a part takes a whole one. */
const PARTS = 200;
/** Marks of one kind along a lane. */
const MARKS = 50;

/** Definitions of the marks in lanes: ✕ for a failure, a triangle for a start. */
export const MARK_SHAPES = html`<svg width="0" height="0" class="shapes" aria-hidden="true">
  <defs>
    <path id="bad" d="M-4-4 4 4M-4 4 4-4" />
    <path id="start" d="M-3.5 4 0-3 3.5 4Z" />
    <pattern
      id="unsure"
      width="5"
      height="5"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <path d="M0 0V5" class="hatch" />
    </pattern>
  </defs>
</svg>`;

/** Names and describes a plot of counts. */
export interface Counts {
  /** Unique on the page: it becomes part of an id. */
  readonly id: string;
  readonly title: string;
  readonly moments: readonly Moment[];
}

/** Sums the counts in each bin of an axis. */
export function binned(moments: readonly Moment[], axis: TimeAxis): readonly number[] {
  const bins = Array.from({ length: axis.bins }, () => 0);
  for (const { atMs, count } of moments) {
    if (!axis.has(atMs)) continue;
    const index = Math.min(bins.length - 1, Math.floor((atMs - axis.fromMs) / axis.binMs));
    bins[index] = (bins[index] ?? 0) + count;
  }
  return bins;
}

/** Bars over time, and the numbers as a table. Of nothing there is no plot. */
export function countPlot({ id, title, moments }: Counts, axis: TimeAxis): Html {
  const bins = binned(moments, axis);
  const total = bins.reduce((sum, count) => sum + count, 0);
  if (total === 0) return html`<p><b>${title}</b>: none</p>`;
  const most = Math.max(...bins);
  const width = 100 / bins.length;
  const periods = bins.flatMap((count, index) => {
    const fromMs = axis.fromMs + index * axis.binMs;
    return count === 0 ? [] : [{ index, count, period: utc(fromMs).slice(0, 16) }];
  });
  const each = durationWords(axis.binMs);
  const peak = periods.find(({ count }) => count === most)?.period;
  const description = `most: ${most} in ${each} from ${peak} UTC`;
  const bars = periods.map(({ index, count, period }) => {
    const heightPx = Math.max(2, (count / most) * PLOT_PX);
    const [x, y] = [percent(index * width + width * 0.08), round(PLOT_PX + 14 - heightPx)];
    const size = html`width="${percent(width * 0.84)}" height="${round(heightPx)}"`;
    return html`<rect x="${x}" y="${y}" ${size}><title>${period} UTC: ${count}</title></rect>`;
  });
  const rows = periods.map(
    ({ count, period }) =>
      html`<tr>
        <th scope="row">${period}</th>
        <td>${count}</td>
      </tr>`,
  );
  const numbers = html`<details>
    <summary>The numbers, each of ${each}</summary>
    ${table(['From (UTC)', title], rows)}
  </details>`;
  return html`<figure>
    <figcaption><b>${title}</b>: ${total} <span class="more">(${description})</span></figcaption>
    <svg class="plot" height="${PLOT_PX + 16}" role="img" aria-labelledby="${id}-t ${id}-d">
      <title id="${id}-t">${title}</title>
      <desc id="${id}-d">${total}; ${description}</desc>
      <line class="grid" x1="0" x2="100%" y1="14" y2="14" />
      <text x="0" y="10">${most}</text>
      <g class="bar">${bars}</g>
      <line class="base" x1="0" x2="100%" y1="${PLOT_PX + 14}" y2="${PLOT_PX + 14}" />
    </svg>
    ${timeLabels(axis)}${numbers}
  </figure>`;
}

/** Labels below plots: the time in UTC and, if it differs, the time of this node. */
export function timeLabels(axis: TimeAxis): Html {
  const isSame = isUtcHere(axis.toMs) && isUtcHere(axis.fromMs);
  const rows = isSame ? [utcTick] : [utcTick, localTick];
  const labels = axis.ticks.map(({ atMs, at }) => {
    const x = percent(at * 100);
    const anchor = at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle';
    const texts = rows.map(
      (format, row) =>
        html`<text
          x="${x}"
          y="${17 + 14 * row}"
          text-anchor="${anchor}"
          ${row === 1 ? html` class="here"` : undefined}
          >${format(atMs, axis)}</text
        >`,
    );
    return html`<line x1="${x}" x2="${x}" y1="0" y2="4" />${texts}`;
  });
  return html`<svg class="times" height="${8 + 14 * rows.length}" aria-hidden="true">
    ${labels}
  </svg>`;
}

/** The lives of a run as bars, its starts and failures as marks. @param label - Read aloud instead of the picture. */
export function lane(lives: readonly Life[], axis: TimeAxis, label: string): Html {
  const ends = lives.flatMap(({ isFailure, toMs }) =>
    isFailure && toMs !== undefined ? [toMs] : [],
  );
  const starts = lives.flatMap(({ fromMs }) => (fromMs === undefined ? [] : [fromMs]));
  const spans = lives.map((life, index) => ({
    fromMs: life.fromMs ?? axis.fromMs,
    // A life whose end is unknown is over when the next one begins.
    toMs: life.toMs ?? (isUnsure(life) ? lives[index + 1]?.fromMs : undefined) ?? axis.untilMs,
    isUnsure: isUnsure(life),
  }));
  const visible = spans.filter(({ toMs }) => toMs >= axis.fromMs);
  const known = visible.filter((span) => !span.isUnsure);
  const unsure = visible.filter((span) => span.isUnsure);
  return html`<svg class="lane" height="30" role="img" aria-label="${label}">
    <line class="base" x1="0" x2="100%" y1="12" y2="12" />
    <g class="unsure">${bars(unsure, axis)}</g>
    <g class="life">${bars(known, axis)}</g>
    <g class="start">${marks('start', starts, axis, 26)}</g>
    <g class="bad">${marks('bad', ends, axis, 5)}</g>
  </svg>`;
}

function isUnsure({ end, toMs }: Life): boolean {
  return end !== undefined && toMs === undefined;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

function bars(spans: readonly Span[], axis: TimeAxis): readonly Html[] {
  const parts = Array.from({ length: PARTS }, () => false);
  for (const { fromMs, toMs } of spans) {
    const first = Math.min(PARTS - 1, Math.floor(axis.at(fromMs) * PARTS));
    const last = Math.max(first + 1, Math.round(axis.at(toMs) * PARTS));
    parts.fill(true, first, last);
  }
  const found: Html[] = [];
  for (let from = parts.indexOf(true); from !== -1; from = parts.indexOf(true, from)) {
    const next = parts.indexOf(false, from);
    const to = next === -1 ? PARTS : next;
    const [x, width] = [percent((from * 100) / PARTS), percent(((to - from) * 100) / PARTS)];
    found.push(html`<rect x="${x}" y="10" width="${width}" height="10" />`);
    from = to;
  }
  return found;
}

/** Marks that would overlap become one. */
function marks(id: string, timesMs: readonly number[], axis: TimeAxis, y: number): readonly Html[] {
  const places = new Set(
    timesMs.filter((atMs) => axis.has(atMs)).map((atMs) => Math.round(axis.at(atMs) * MARKS)),
  );
  return [...places].map(
    (place) => html`<use href="#${id}" x="${percent((place * 100) / MARKS)}" y="${y}" />`,
  );
}

/** A bar that is filled to a share from 0 to 1. */
export function shareBar(share: number): Html {
  const shown = percent(100 * Math.min(1, Math.max(0, share)));
  const level = share >= 0.9 ? 'high' : 'usual';
  return html`<svg class="share" height="14" aria-hidden="true">
    <rect class="all" width="100%" height="14" />
    <rect class="${level}" width="${shown}" height="14" />
  </svg>`;
}

/** `30 minutes`. */
function durationWords(durationMs: number): string {
  const [count, unit] =
    durationMs < 3_600_000
      ? [durationMs / 60_000, 'minute']
      : durationMs < 86_400_000
        ? [durationMs / 3_600_000, 'hour']
        : [durationMs / 86_400_000, 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function percent(value: number): string {
  return `${round(value)}%`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
