/** This file is long because it is one page, from its first line to its last. */
import { formatDuration } from '@wins/base';
import { createHash } from 'node:crypto';
import { counted, type Condition } from '../../kernel/conditions/condition.js';
import type { Life } from '../../kernel/events/daemon-lives.js';
import type { PortTrouble, Repeated } from './history.js';
import { brief, html, table, type Html } from './html.js';
import type { Share } from './page-facts.js';
import { SHOWN, shareOf, type PageModel, type Shown } from './page-model.js';
import { countPlot, lane, MARK_SHAPES, shareBar, timeLabels } from './plots.js';
import type { RunRow } from './run-rows.js';
import { STYLE } from './style.js';
import { isUtcHere, offsetText, TimeAxis, utc } from './time-axis.js';

const NAME = 80;
const LINE = 160;
// No text of a template, which a bundle would keep as it is: bundles are ASCII.
const ARROW = '→';
const ELLIPSIS = '…';
const COMMAND = '“wins status --html”';
const LEVELS = { problem: 'Problem', warning: 'Warning', ok: 'OK' } as const;

/** Returns the page: one HTML document of less than 1 MiB that loads nothing and runs nothing. */
export function statusPage(model: PageModel): string {
  const { host, verdict, kept, madeAtMs } = model;
  const keptAxis = new TimeAxis(kept?.fromMs ?? madeAtMs, Math.max(madeAtMs, kept?.toMs ?? 0));
  const digest = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  // The style is the only text that is no child of a template: a browser reads no entities in it.
  const head = `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<style>${STYLE}</style>`;
  const rest = html`<title>${brief(host, NAME)}: ${verdict}</title>
    </head>
    <body>
      ${MARK_SHAPES} ${top(model)}
      <main>
        ${conditions(model)} ${facts(model)} ${runs(model)} ${history(model, keptAxis)}
        ${tunnels(model, keptAxis)} ${resources(model)}
      </main>
      ${footer(model)}
    </body>
    </html> `;
  return `${head}${rest.markup.trim()}\n`;
}

function top({ host, level, verdict, madeAtMs, isAnswering }: PageModel): Html {
  const here = isUtcHere(madeAtMs)
    ? 'so is the clock of this node'
    : html`the clock of this node is ${offsetText(madeAtMs)}, and plots have its time in italics`;
  const source = isAnswering
    ? html`The daemon of this node has told its state.`
    : html`<b>No daemon has told its state:</b> this page is made from the disk of the node.`;
  return html`<header>
    <h1>Node ${brief(host, NAME)}</h1>
    <p class="verdict ${level}">${verdict}</p>
    <p>As of ${time(madeAtMs)} UTC. ${source}</p>
    <p class="soft">All times are UTC; ${here}.</p>
  </header>`;
}

function conditions({ unwell, madeAtMs }: PageModel): Html {
  if (unwell.shown.length === 0) return html`<p>There are no problems and no warnings.</p>`;
  const items = unwell.shown.map((one) => condition(one, madeAtMs));
  return html`<section aria-labelledby="h-unwell">
    <h2 id="h-unwell">Problems and warnings</h2>
    <ol class="list">
      ${items}
    </ol>
    ${left(unwell.left, 'more; “wins status” lists them')}
  </section>`;
}

function condition({ check, code, level, found, advice, since }: Condition, nowMs: number): Html {
  const sinceMs = since === undefined ? NaN : Date.parse(since);
  const lasts = Number.isNaN(sinceMs)
    ? undefined
    : html`<p class="soft">Since ${time(sinceMs)} (${ago(sinceMs, nowMs)})</p>`;
  return html`<li class="condition ${level}">
    <p>
      <span class="badge">${LEVELS[level]}</span> <b>${brief(check, NAME)}</b>
      <code class="soft">${brief(code ?? '', NAME)}</code>
    </p>
    <p>${found}</p>
    ${advice === undefined ? undefined : html`<p class="next"><span aria-hidden="true">${ARROW} </span>${advice}</p>`}${lasts}
  </li>`;
}

function facts({ summaries, well }: PageModel): Html {
  const line = ({ check, found }: Condition) =>
    html`<dt>${brief(check, NAME)}</dt>
      <dd>${found}</dd>`;
  const short = ({ check, found }: Condition) =>
    html`<dt>${brief(check, NAME)}</dt>
      <dd>${brief(found, 2 * LINE)}</dd>`;
  const others = well.shown.length + well.left;
  return html`<section aria-labelledby="h-state">
    <h2 id="h-state">State</h2>
    <dl>${summaries.shown.map(line)}</dl>
    ${left(summaries.left, 'more')}
    ${
      others === 0
        ? undefined
        : html`<details>
            <summary>${others} more that are well</summary>
            <dl>${well.shown.map(short)}</dl>
            ${left(well.left, 'more')}
          </details>`
    }
  </section>`;
}

function runs({ runs: rows, runsFromMs, madeAtMs, daemon, eventsFault }: PageModel): Html {
  const axis = new TimeAxis(runsFromMs, madeAtMs);
  const starts = daemon.filter(({ fromMs }) => fromMs !== undefined && axis.has(fromMs)).length;
  const crashes = daemon.filter(
    ({ isFailure, toMs }) => isFailure && toMs !== undefined && axis.has(toMs),
  ).length;
  const words = countsText({ start: starts, 'unexpected end': crashes });
  const daemonLane = lane(daemon, axis, `Time line of the daemon: ${words}`);
  const ofDaemon = runItem('The daemon', html`<p class="soft">${words}</p>`, daemonLane);
  const labels = html`<div class="axis"><div>${timeLabels(axis)}</div></div>`;
  const none = rows.shown.length === 0 ? html`<p>No run is known.</p>` : undefined;
  return html`<section aria-labelledby="h-runs">
    <h2 id="h-runs">Runs</h2>
    <p class="soft">From ${time(axis.fromMs)} to ${time(axis.toMs)}.</p>
    ${fault(eventsFault)} ${legend()}${labels}
    <ol class="list">
      ${daemon.length === 0 ? undefined : ofDaemon}${rows.shown.map((row) => run(row, axis))}
    </ol>
    ${none} ${rows.shown.length > 4 ? labels : undefined} ${left(rows.left, 'more runs')}
  </section>`;
}

function legend(): Html {
  const key = (shape: Html, words: string) =>
    html`<li><svg height="16" aria-hidden="true">${shape}</svg>${words}</li>`;
  const bar = (name: string) =>
    html`<g class="${name}"><rect x="1" y="2" width="20" height="12" /></g>`;
  return html`<ul class="legend">
    ${[
      key(bar('life'), 'runs'),
      key(html`<g class="start"><use href="#start" x="11" y="8" /></g>`, 'start'),
      key(html`<g class="bad"><use href="#bad" x="11" y="8" /></g>`, 'failure'),
      key(bar('unsure'), 'end unknown'),
    ]}
  </ul>`;
}

function run(row: RunRow, axis: TimeAxis): Html {
  const { name, process, path, state, isFailing, lives, restarts, failures } = row;
  const counts = countsText({ attempt: lives.length, restart: restarts, failure: failures });
  const program = path === '' ? process : path;
  const newest = lives.slice(-SHOWN.livesOfRun).reverse();
  const about = html`<p>${isFailing ? html`<b>Failing:</b> ` : undefined}${brief(state, LINE)}</p>
    <p class="soft"><span class="text">${brief(program, LINE)}</span><br />${counts}</p>`;
  const attempts = html`<details>
    <summary>Latest attempts</summary>
    ${table(['Start', 'End', 'How'], newest.map(attempt))}
    ${left(lives.length - newest.length, 'earlier ones')}
  </details>`;
  const label = `Time line of ${brief(name, NAME)}: ${counts}`;
  const more = newest.length === 0 ? undefined : attempts;
  return runItem(brief(name, NAME), about, lane(lives, axis, label), more);
}

function runItem(title: string, about: Html, timeLine: Html, more?: Html): Html {
  return html`<li class="run">
    <div>
      <h3>${title}</h3>
      ${about}
    </div>
    ${timeLine}${more}
  </li>`;
}

function attempt({ fromMs, toMs, end, isFailure }: Life): Html {
  const from = fromMs === undefined ? 'earlier' : time(fromMs);
  const to = toMs === undefined ? '' : time(toMs);
  const how = end === undefined ? 'runs' : brief(end, NAME);
  return html`<tr>
    <td>${from}</td>
    <td>${to}</td>
    <td>${isFailure ? html`<b>failed:</b> ` : undefined}${how}</td>
  </tr>`;
}

function history({ kept, eventsFault, moments, refusals }: PageModel, axis: TimeAxis): Html {
  const about =
    kept === undefined
      ? html`<p>There are no events.</p>`
      : html`<p class="soft">
          ${kept.count} events are kept, from ${time(kept.fromMs)} to ${time(kept.toMs)}.
        </p>`;
  return html`<section aria-labelledby="h-history">
    <h2 id="h-history">Refusals and restarts</h2>
    ${fault(eventsFault) ?? about}
    ${countPlot({ id: 'refusals', title: 'Refusals', moments: moments.refusals }, axis)}
    ${refusalTable(refusals)}
    ${countPlot({ id: 'restarts', title: 'Restarts of runs and starts of the daemon', moments: moments.restarts }, axis)}
    ${countPlot({ id: 'failures', title: 'Failed runs', moments: moments.failures }, axis)}
  </section>`;
}

function refusalTable(refusals: PageModel['refusals']): Html | undefined {
  return repeated('Refused', refusals, ({ action, rule, subject, lastClient }) => {
    const client =
      lastClient === ''
        ? undefined
        : html`<br /><span class="soft">last by ${brief(lastClient, LINE)}</span>`;
    return html`<b>${brief(action, NAME)}</b> <span class="text">${brief(subject, LINE)}</span
      ><br />${brief(rule, LINE)}${client}`;
  });
}

function repeated<About>(
  heading: string,
  { shown, left: others }: Shown<Repeated<About>>,
  describe: (one: Repeated<About>) => Html,
): Html | undefined {
  if (shown.length === 0) return undefined;
  const rows = shown.map(
    (one) =>
      html`<tr>
        <td class="number">${one.count}</td>
        <td>${describe(one)}</td>
        <td>${time(one.lastMs)}</td>
      </tr>`,
  );
  return html`${table(['Times', heading, 'Last'], rows, { isCount: true })}
  ${left(others, 'more kinds')}`;
}

function tunnels(model: PageModel, axis: TimeAxis): Html {
  const { tunnelsOpened, tunnelsEnded, ports, moments, tunnelBytes } = model;
  const ended = tunnelsEnded.shown.map(({ reason, count }) => `${count} ${brief(reason, NAME)}`);
  const ends = ended.length === 0 ? 'none ended' : `ended: ${ended.join(', ')}`;
  const bytes =
    tunnelBytes &&
    html`<p>
      Since the daemon started: ${bytesText(tunnelBytes.fromClients)} from clients,
      ${bytesText(tunnelBytes.toClients)} to clients.
    </p>`;
  const describe = ({ port, trouble }: PortTrouble) =>
    html`port ${brief(port, NAME)}: ${brief(trouble, NAME)}`;
  return html`<section aria-labelledby="h-tunnels">
    <h2 id="h-tunnels">Tunnels</h2>
    <p>Among the kept events: ${counted(tunnelsOpened, 'tunnel')} opened, ${ends}.</p>
    ${bytes}
    ${countPlot({ id: 'troubles', title: 'Trouble with ports', moments: moments.troubles }, axis)}${repeated('Trouble', ports, describe)}
  </section>`;
}

function resources({ memory, disks }: PageModel): Html {
  const list = (shares: readonly Share[]) =>
    html`<ul class="list shares">
      ${shares.map(share)}
    </ul>`;
  return html`<section aria-labelledby="h-resources">
    <h2 id="h-resources">Memory and disks</h2>
    <h3>Memory</h3>
    ${list(memory.shown)}${left(memory.left, 'more runs')}
    <h3>Disks</h3>
    ${list(disks)}
  </section>`;
}

function share(one: Share): Html {
  const { what, usedBytes, totalBytes } = one;
  const percent = Math.round(100 * shareOf(one));
  return html`<li>
    <span class="text">${brief(what, LINE)}</span><br />${bytesText(usedBytes)} of
    ${bytesText(totalBytes)} (${percent}%)${shareBar(shareOf(one))}
  </li>`;
}

function footer({ madeAtMs }: PageModel): Html {
  return html`<footer>
    <p>
      Made by ${COMMAND} at ${time(madeAtMs)} UTC. Counts and plots cover the events that the daemon
      keeps, which are at most about 10,000. Known secrets are removed. Names and addresses of this
      node remain: give the page only to people whom you trust with them.
    </p>
  </footer>`;
}

function fault(reason: string | undefined): Html | undefined {
  return reason === undefined
    ? undefined
    : html`<p><b>There are no events to show:</b> ${brief(reason, 2 * LINE)}</p>`;
}

function left(count: number, words: string): Html | undefined {
  return count === 0 ? undefined : html`<p class="soft">${ELLIPSIS} and ${count} ${words}.</p>`;
}

function time(atMs: number): Html {
  const text = utc(atMs);
  return html`<time datetime="${text.replace(' ', 'T')}Z">${text}</time>`;
}

function ago(thenMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - thenMs) / 1000));
  const whole = seconds < 3600 ? seconds : seconds - (seconds % 60);
  return `${formatDuration(whole * 1000)} ago`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  if (some.length === 0) return 'no start within this time';
  return some.map(([word, count]) => counted(count, word)).join(', ');
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 'B'];
  for (const larger of UNITS) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, larger];
  }
  return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
}
