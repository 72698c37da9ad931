import { parsePlan, type FailedInstruction, type PlanStatus } from '@wins/system-agent';
import { appliedMessage, contentMessage, sourceMessage } from './plan-service.js';

const STATUS: PlanStatus = {
  source: 'remote',
  state: { kind: 'starting' },
  failures: 0,
  periodic: {},
  probes: {},
};
const { plan, checksum } = parsePlan(
  Buffer.from(
    JSON.stringify({
      files: [
        { path: '/etc/a', content: Buffer.from('secret').toString('base64'), permissions: '0600' },
        { path: '/etc/b', action: 'delete' },
      ],
      instructions: [
        { name: 'i', command: 'c', args: ['secret'], env: ['A=secret', 'secret'], image: 'i:1' },
      ],
      periodicInstructions: [{ name: 'p', command: 'c', periodSeconds: 7 }],
      probes: { p: { httpGet: { url: 'https://user:secret@host:1/p?token=secret' } } },
    }),
  ),
);

const failed = (exitCode: number, stderrEnd: string): FailedInstruction => ({
  ...{ instruction: 'install', exitCode, stderrEnd },
});

describe('what is told of a plan', () => {
  it('is what it wants, and no content, argument, value, password or query', () => {
    const content = contentMessage('remote', checksum, plan);
    expect(JSON.stringify(content)).not.toContain('secret');
    expect(content).toMatchObject({
      ...{ Source: 'remote', Checksum: checksum },
      Files: [
        { Path: '/etc/a', SizeBytes: 6, Permissions: '0600', Action: 'write' },
        { Path: '/etc/b', Action: 'delete' },
      ],
      Instructions: [
        { Name: 'i', Image: 'i:1', ArgumentCount: 1, Variables: ['A'], PeriodSeconds: 0 },
        { Name: 'p', PeriodSeconds: 7 },
      ],
      Probes: [{ Name: 'p', Address: 'https://host:1/p' }],
    });
  });

  it('is how large it was, in the history', () => {
    expect(appliedMessage({ file: 'f', checksum, plan })).toEqual({
      ...{ File: 'f', Checksum: checksum, Files: 2 },
      ...{ Instructions: 1, PeriodicInstructions: 1, Probes: 1 },
    });
  });

  it.each<[PlanStatus['state'], string, string]>([
    [{ kind: 'noPlan' }, '', ''],
    [{ kind: 'noSecret' }, expect.stringMatching(/no Secret.*wins join --again/) as string, ''],
    [
      { kind: 'unregistered', error: new Error('401'), retryAt: new Date(7000) },
      expect.stringMatching(/^401: .*wins join --again/) as string,
      '1970-01-01T00:00:07.000Z',
    ],
    [{ kind: 'applied', checksum, nextPassAt: new Date(5000) }, '', '1970-01-01T00:00:05.000Z'],
    [{ kind: 'failed', checksum, failures: 2 }, 'an instruction failed, in try 2', ''],
    [
      { kind: 'failed', checksum, failures: 2, failure: failed(3, 'a\nno room\n') },
      'instruction "install" ended with 3: "a\\nno room", in try 2',
      '',
    ],
    [
      { kind: 'failed', checksum, failures: 1, failure: failed(-1, '') },
      'instruction "install" was not started, or was killed, in try 1',
      '',
    ],
    [
      { kind: 'failed', checksum, failures: 0 },
      'plan-state is "failed"; the Secret does not say why',
      '',
    ],
    [{ kind: 'cancelled', checksum, nextPassAt: new Date(5000) }, '', '1970-01-01T00:00:05.000Z'],
    [{ kind: 'paused', checksum, nextPassAt: new Date(5000) }, '', '1970-01-01T00:00:05.000Z'],
    [{ kind: 'waiting', checksum, nextPassAt: new Date(5000) }, '', '1970-01-01T00:00:05.000Z'],
    [
      { kind: 'waiting', checksum, planState: 'pending', nextPassAt: new Date(5000) },
      '',
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'waiting', checksum, planState: 'succeeded', nextPassAt: new Date(5000) },
      expect.stringContaining(
        'plan-state is "succeeded" from an earlier plan; only pending starts this one. A Rancher that was rolled back',
      ) as string,
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'waiting', checksum, planState: 'held', nextPassAt: new Date(5000) },
      'plan-state is "held"; only pending starts the plan',
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'disconnected', error: new Error('401'), retryAt: new Date(7000) },
      '401',
      '1970-01-01T00:00:07.000Z',
    ],
  ])('is what is wrong, and when it is looked at next', (state, problem, next) => {
    expect(sourceMessage({ ...STATUS, state })).toMatchObject({
      ...{ State: state.kind, Problem: problem, NextAt: next },
    });
  });
});
