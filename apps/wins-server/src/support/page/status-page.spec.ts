import type { Run } from '@wins/wins-api/contract';
import { cleanerOf } from '../cleaner.js';
import { problem, summary, warning, ok } from '../../kernel/conditions/condition.js';
import type { RingEvent } from '../../kernel/events/ring-files.js';
import type { PageFacts } from './page-facts.js';
import { cleaned, pageModel } from './page-model.js';
import { statusPage } from './status-page.js';

const NOW_MS = Date.parse('2026-11-30T01:45:07Z');
const MIB = 2 ** 20;
const RUN: Run = {
  name: 'web',
  process: 'rancher-wins-web',
  lifetime: 'connection',
  state: 'running',
  path: '/opt/web',
  pid: 7,
  startedAtMs: NOW_MS - 100,
  sha256: '',
  exposes: [],
  restarts: 0,
};

function pageOf(facts: Partial<PageFacts>, secrets: readonly string[] = []): string {
  const model = pageModel({
    madeAtMs: NOW_MS,
    host: 'node-7',
    isAnswering: true,
    reported: [],
    events: [],
    eventsFault: undefined,
    runs: { isKnown: true, runs: [] },
    memory: [],
    disks: [],
    tunnelBytes: undefined,
    ...facts,
  });
  return statusPage(cleaned(model, cleanerOf(secrets)));
}

describe('the page', () => {
  it('shows a run that has just started, and has no figures yet, as one that lives', () => {
    const page = pageOf({ runs: { isKnown: true, runs: [RUN] } });
    expect(page).toContain('running');
    expect(page).not.toContain('its end is not among the events');
    const waits = pageOf({ runs: { isKnown: true, runs: [{ ...RUN, state: 'waiting' }] } });
    expect(waits).toContain('waits to be started again');
  });

  it.each([
    ['never started', { state: 'waiting', startedAtMs: 0 }, /<p>waits.*no start within this time/s],
    [
      'failed',
      { state: 'ended', end: { exitCode: 3, reason: 'exited', endedAtMs: NOW_MS, outputBytes: 0 } },
      /<b>Failing:<\/b> ended: exited \(code 3\).*1 attempt, 1 failure/s,
    ],
  ])('shows a run without events that %s as the daemon knows it', (_what, facts, shown) => {
    const page = pageOf({ runs: { isKnown: true, runs: [{ ...RUN, ...facts }] } });
    expect(page).toMatch(shown);
    expect(page).not.toContain('1970');
  });

  it('has less than 1 MiB when it is as full as it can be, of characters that take the most room', () => {
    const text = '"'.repeat(5000);
    const conditions = Array.from({ length: 100 }, (_, index) => [
      problem(text, text, `${text}${index}`, text),
      warning(text, text, `${text}${index}`, text),
      summary(text, `${index}${text}`),
      ok(text, `${index}${text}`),
    ]).flat();
    const day = 86_400_000;
    const events = Array.from({ length: 12_000 }, (_, index): RingEvent => {
      const time = new Date(NOW_MS - day + (index * day) / 12_000).toISOString();
      const name = `${index % 30}${text}`;
      const life = Math.floor(index / 30);
      const facts = { mark: `${life >> 1}`, name, label: name, path: text };
      const kinds = [
        { type: life % 2 === 0 ? 'runStarted' : 'runEnded', ...facts, reason: 'exited', code: 1 },
        { type: 'decided', verdict: 'refused', action: name, rule: text, path: text, client: text },
        { type: 'connectFailed', port: name, code: text },
        { type: 'tunnelEnded', reason: name },
      ];
      const other = index % 4 === 0 ? kinds[1 + (life % 3)] : kinds[0];
      return { seq: index + 1, time, type: 'runStarted', ...other };
    });
    const page = pageOf({ host: text, reported: conditions, events });
    expect(page.length).toBeGreaterThan(MIB / 2);
    expect(Buffer.byteLength(page)).toBeLessThan(MIB);
  });

  it('removes secrets before it shortens or escapes a text, and stays whole if a secret is a word of its markup', () => {
    const secret = 'p<ss&word';
    const long = `${'y'.repeat(1018)}${secret}`;
    const page = pageOf(
      { reported: [problem('plan', 'planFailed', long, `see ${secret} in table`)] },
      [secret, 'table', 'section'],
    );
    expect(page).not.toContain('p&lt;ss');
    expect(page).toContain('see [removed] in [removed]');
    expect(page).toContain('<section ');
  });

  it('of a node that is well says so, and has no list of problems', () => {
    const page = pageOf({ reported: [summary('daemon', 'serves')] });
    expect(page).toContain('<p class="verdict ok">all is well</p>');
    expect(page).not.toContain('class="condition');
  });

  it('says why there are no events', () => {
    expect(pageOf({ eventsFault: 'access is denied <to you>' })).toContain(
      'access is denied &lt;to you&gt;',
    );
  });
});
