import { parseConfig } from '@wins/config';
import type { DoctorHost } from '../../doctor/doctor-host.js';
import { checkKept } from './check-kept.js';

const KEEP = 'keep: [{ path: /opt/one }, { path: /opt/two }]';
const started = { type: 'started' };
const gaveUp = { type: 'runGaveUp', label: 'keep:one', reason: 'it failed' };

async function look(events: readonly object[], text = KEEP): Promise<readonly string[]> {
  const loaded = { ...parseConfig(text, { platform: 'linux' }), path: '/etc/config', found: true };
  const host = { recentEvents: () => Promise.resolve(events) };
  const findings = await checkKept.look(host as unknown as DoctorHost, loaded);
  return findings.map(({ level, found }) => `${level}: ${found}`);
}

describe('of programs that the config keeps the doctor says', () => {
  it('nothing where there are none', async () => {
    expect(await look([gaveUp], '')).toEqual([]);
  });

  it('which one was given up, and why', async () => {
    expect(await look([started, gaveUp])).toEqual([
      'problem: keep:one will not be started again: it failed',
    ]);
  });

  it.each([
    ['before the daemon started', [gaveUp, started]],
    ['of another name', [started, { ...gaveUp, label: 'one' }]],
    ['before it was started anew', [started, gaveUp, { type: 'runStarted', path: '/opt/one' }]],
  ])('that all is well when what was given up was so %s', async (_when, events) => {
    expect(await look(events)).toEqual(['ok: no program of "keep" was given up']);
  });
});
