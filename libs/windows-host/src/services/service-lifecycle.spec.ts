import {
  readControl,
  SERVICE_MOVES,
  ServiceLifecycle,
  serviceStatusOf,
  type ServicePhase,
} from './service-lifecycle.js';

function lifecycle(startLimitMs = 60_000) {
  const told: ServicePhase[] = [];
  const service = new ServiceLifecycle((phase) => told.push(phase), startLimitMs);
  return { told, service, kinds: () => told.map(({ kind }) => kind) };
}

const bring = {
  startPending: () => undefined,
  running: (service: ServiceLifecycle) => service.running(),
  stopPending: (service: ServiceLifecycle) => service.stopping(60_000),
  stopped: (service: ServiceLifecycle) => service.stopped(0),
};

describe('the phases of a service', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const kinds = Object.keys(SERVICE_MOVES) as ServicePhase['kind'][];
  const moves = kinds.flatMap((from) =>
    (['running', 'stopPending', 'stopped'] as const).map((to) => [from, to] as const),
  );
  it.each(moves)('move from %s to %s when the table says so', (from, to) => {
    const { service, told } = lifecycle();
    bring[from](service);
    const before = told.length;
    bring[to](service);
    const isLegal = from !== to && SERVICE_MOVES[from].includes(to);
    expect(service.phase.kind).toBe(isLegal ? to : from);
    expect(told).toHaveLength(before + (isLegal ? 1 : 0));
    service.stopped(0);
  });

  it('are legal as this table says', () => {
    expect(SERVICE_MOVES).toEqual({
      startPending: ['startPending', 'running', 'stopPending', 'stopped'],
      running: ['stopPending', 'stopped'],
      stopPending: ['stopPending', 'stopped'],
      stopped: [],
    });
  });

  it('tell progress while they are pending, and none afterwards', () => {
    const { service, told } = lifecycle();
    jest.advanceTimersByTime(4000);
    service.running();
    jest.advanceTimersByTime(60_000);
    service.stopping(60_000);
    jest.advanceTimersByTime(2000);
    service.stopped(70);
    jest.advanceTimersByTime(60_000);
    expect(told).toEqual([
      { kind: 'startPending', checkpoint: 1 },
      { kind: 'startPending', checkpoint: 2 },
      { kind: 'startPending', checkpoint: 3 },
      { kind: 'running' },
      { kind: 'stopPending', checkpoint: 1 },
      { kind: 'stopPending', checkpoint: 2 },
      { kind: 'stopped', exitCode: 70 },
    ]);
  });

  it('end with an error when a start takes too long', () => {
    const { told } = lifecycle(4000);
    jest.advanceTimersByTime(60_000);
    expect(told.slice(-2)).toEqual([
      { kind: 'startPending', checkpoint: 3 },
      { kind: 'stopped', exitCode: 1 },
    ]);
  });

  it('end with an error when a stop takes too long, even one during a start', () => {
    const { service, told } = lifecycle();
    service.stopping(4000);
    jest.advanceTimersByTime(60_000);
    expect(told.slice(-2)).toEqual([
      { kind: 'stopPending', checkpoint: 3 },
      { kind: 'stopped', exitCode: 1 },
    ]);
  });

  it('keep the first exit code', () => {
    const { service } = lifecycle();
    service.stopped(78);
    service.stopped(0);
    expect(service.phase).toEqual({ kind: 'stopped', exitCode: 78 });
  });

  it('leave no timer behind', () => {
    const { service } = lifecycle();
    service.stopping(60_000);
    service.stopped(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a SERVICE_STATUS', () => {
  const fields = (phase: ServicePhase): number[] =>
    Array.from({ length: 7 }, (_, index) => serviceStatusOf(phase).readUInt32LE(index * 4));

  it.each<[ServicePhase, number[]]>([
    // type, state, accepts, win32 exit code, own exit code, checkpoint, wait hint
    [{ kind: 'startPending', checkpoint: 3 }, [0x10, 2, 0x105, 0, 0, 3, 10_000]],
    [{ kind: 'running' }, [0x10, 4, 0x105, 0, 0, 0, 0]],
    [{ kind: 'stopPending', checkpoint: 1 }, [0x10, 3, 0, 0, 0, 1, 10_000]],
    [{ kind: 'stopped', exitCode: 0 }, [0x10, 1, 0, 0, 0, 0, 0]],
    [{ kind: 'stopped', exitCode: 78 }, [0x10, 1, 0, 1066, 78, 0, 0]],
  ])('of %j is %j', (phase, expected) => {
    expect(fields(phase)).toEqual(expected);
  });
});

describe('a control', () => {
  it.each([
    [1, { answer: 0, stop: 'stop' }],
    [4, { answer: 0 }],
    [5, { answer: 0, stop: 'shutdown' }],
    [0xf, { answer: 0, stop: 'preshutdown' }],
    [2, { answer: 120 }],
  ])('%i means %j', (control, meaning) => {
    expect(readControl(control)).toEqual(meaning);
  });
});
