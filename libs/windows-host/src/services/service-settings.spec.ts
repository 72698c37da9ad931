import {
  type ServiceDefinition,
  type ServiceStartType,
  SETTING_LEVELS,
  settingsOf,
  parseFailureActions,
  parseOneText,
} from './service-config.js';

const definition = (startType: ServiceStartType): ServiceDefinition => ({
  name: 'a',
  displayName: 'A',
  description: 'About',
  command: ['a.exe'],
  startType,
  dependencies: [],
  failurePolicy: { restartDelaysMs: [5000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: 45_000,
});
const settings = (startType: ServiceStartType) =>
  settingsOf(definition(startType)).map(
    ([name, memory]) => [SETTING_LEVELS[name], memory] as const,
  );

describe('the settings of a service', () => {
  it('are given at the levels, and as the structures, that the system takes', () => {
    const given = new Map<number, Buffer>(settings('delayed'));
    expect([...given.keys()]).toEqual([1, 2, 4, 7, 3]);
    expect(parseOneText(given.get(1) as Buffer)).toBe('About');
    expect(parseFailureActions(given.get(2) as Buffer)).toEqual(
      definition('delayed').failurePolicy,
    );
    // Level 4 is fFailureActionsOnNonCrashFailures: a stop with an error counts as a failure.
    expect([4, 7, 3].map((level) => given.get(level)?.readUInt32LE())).toEqual([1, 45_000, 1]);
  });

  it('take back a delay, and say nothing of one where no start is automatic', () => {
    expect(settings('automatic').at(-1)).toEqual([3, Buffer.alloc(4)]);
    expect(settings('manual').map(([level]) => level)).toEqual([1, 2, 4, 7]);
  });
});
