import { parsePlan, type FailedInstruction, type PlanStatus } from '@wins/system-agent';
import { sourceFacts } from './plan-facts.js';
import { appliedMessage, contentMessage } from './plan-service.js';

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
  instruction: 'install',
  exitCode,
  stderrEnd,
});

describe('what is told of a plan', () => {
  it('is what it wants, and no content, argument, value, password or query', () => {
    const content = contentMessage('remote', checksum, plan);
    expect(JSON.stringify(content)).not.toContain('secret');
    expect(content).toMatchObject({
      source: 'remote',
      checksum,
      files: [
        { path: '/etc/a', sizeBytes: 6, permissions: '0600', action: 'write' },
        { path: '/etc/b', action: 'delete' },
      ],
      instructions: [
        { name: 'i', image: 'i:1', argumentCount: 1, variables: ['A'], periodSeconds: 0 },
        { name: 'p', periodSeconds: 7 },
      ],
      probes: [{ name: 'p', address: 'https://host:1/p' }],
    });
  });

  it('is how large it was, in the history', () => {
    expect(appliedMessage({ file: 'f', checksum, plan })).toEqual({
      file: 'f',
      checksum,
      files: 2,
      instructions: 1,
      periodicInstructions: 1,
      probes: 1,
    });
  });

  it.each<[PlanStatus['state'], string | undefined, string | undefined]>([
    [{ kind: 'noPlan' }, undefined, undefined],
    [
      { kind: 'noSecret' },
      expect.stringMatching(/no Secret.*wins join --again/) as string,
      undefined,
    ],
    [
      { kind: 'unregistered', error: new Error('401'), retryAt: new Date(7000) },
      expect.stringMatching(/^401: .*wins join --again/) as string,
      '1970-01-01T00:00:07.000Z',
    ],
    [
      { kind: 'applied', checksum, nextPassAt: new Date(5000) },
      undefined,
      '1970-01-01T00:00:05.000Z',
    ],
    [{ kind: 'failed', checksum, failures: 2 }, 'an instruction failed, in try 2', undefined],
    [
      { kind: 'failed', checksum, failures: 2, failure: failed(3, 'a\nno room\n') },
      'instruction "install" ended with 3: "a\\nno room", in try 2',
      undefined,
    ],
    [
      { kind: 'failed', checksum, failures: 1, failure: failed(-1, '') },
      'instruction "install" was not started, or was killed, in try 1',
      undefined,
    ],
    [
      { kind: 'failed', checksum, failures: 0 },
      'plan-state is "failed"; the Secret does not say why',
      undefined,
    ],
    [
      { kind: 'cancelled', checksum, nextPassAt: new Date(5000) },
      undefined,
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'paused', checksum, nextPassAt: new Date(5000) },
      undefined,
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'waiting', checksum, nextPassAt: new Date(5000) },
      undefined,
      '1970-01-01T00:00:05.000Z',
    ],
    [
      { kind: 'waiting', checksum, planState: 'pending', nextPassAt: new Date(5000) },
      undefined,
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
    expect(sourceFacts({ ...STATUS, state })).toMatchObject({
      state: state.kind,
      problem,
      nextAt: next,
    });
  });
});
