import type { ServiceDefinition, ServiceStartType } from './service-definition.js';
import { SETTING_LEVELS, settingsOf } from './service-settings.js';

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
  settingsOf(definition(startType), () => 0x1000n).map(
    ([name, memory]) => [SETTING_LEVELS[name], memory.toString('hex')] as const,
  );

describe('the settings of a service', () => {
  it('are given at the levels, and as the structures, that the system takes', () => {
    expect(settings('delayed')).toEqual([
      [1, `0810000000000000${Buffer.from('About\0', 'utf16le').toString('hex')}`],
      [
        2,
        '5802000000000000' +
          '0000000000000000' +
          '0000000000000000' +
          '0100000000000000' +
          '2810000000000000' +
          '0100000088130000',
      ],
      // fFailureActionsOnNonCrashFailures: a stop with an error counts as a failure.
      [4, '01000000'],
      [7, 'c8af0000'],
      [3, '01000000'],
    ]);
  });

  it('take back a delay, and say nothing of one where no start is automatic', () => {
    expect(settings('automatic').at(-1)).toEqual([3, '00000000']);
    expect(settings('manual').map(([level]) => level)).toEqual([1, 2, 4, 7]);
  });
});
