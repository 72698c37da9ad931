import { activeHandles } from './active-handles.js';
import { Diagnostics, requireFreeHeap, type Pieces } from './diagnostics.js';
import { FeatureError, isFeatureError } from '../../kernel/feature-error.js';
import { withoutSecrets } from './process-report.js';

const SECRET = 'canary-7f3a9c';

async function whole(pieces: Pieces): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts);
}

/** Keeps the thread busy, so that the recording has a stack to show. */
async function keepBusyWhile<Result>(recording: Promise<Result>): Promise<Result> {
  let over = false;
  void recording.finally(() => (over = true)).catch(() => undefined);
  const isOver = (): boolean => over;
  while (!isOver()) {
    countUpTo(200_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return recording;
}

function countUpTo(limit: number): number {
  let sum = 0;
  for (let number = 0; number < limit; number += 1) sum += Math.sqrt(number);
  return sum;
}

describe('what a process tells about itself', () => {
  it('is where its thread is, and what it waits for', async () => {
    const waiting = setInterval(() => undefined, 1_000_000);
    const text = await keepBusyWhile(new Diagnostics().stacks({ seconds: 0.3 }));
    clearInterval(waiting);
    // Looks for keepBusyWhile, because V8 may have inlined countUpTo, which is called often.
    expect(text).toMatch(/\d % of \d+ samples\n(?: {4}.*\n)*? {4}keepBusyWhile \(.*spec\.ts:\d+\)/);
    expect(text).toMatch(/ {4}Timeout: \d+/);
  });

  it('is a report without the environment, the command line and names of hosts', () => {
    process.env['SOME_TOKEN'] = SECRET;
    process.argv.push(SECRET);
    const text = new Diagnostics().report();
    process.argv.pop();
    delete process.env['SOME_TOKEN'];
    expect(text).not.toContain(SECRET);
    const { hostname } = process.report.getReport() as unknown as { hostname?: string };
    expect(hostname).toBeUndefined();
    const report = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(report)).not.toContain('environmentVariables');
    expect(Object.keys(report.header as object)).not.toContain('commandLine');
    expect(report['javascriptHeap']).toBeDefined();
  });

  it('contains only the listed fields of a report, and none that a later Node adds', () => {
    const told = withoutSecrets({
      header: { platform: 'linux', host: 'node-1', commandLine: [SECRET] },
      libuv: [{ type: 'pipe', fd: 7, localEndpoint: SECRET, filename: SECRET }],
      environmentVariables: { TOKEN: SECRET },
      secrets: SECRET,
    });
    expect(told).toEqual({ header: { platform: 'linux' }, libuv: [{ type: 'pipe', fd: 7 }] });
  });

  it('is a profile of the processor', async () => {
    const profile = await keepBusyWhile(whole(new Diagnostics().cpu({ seconds: 0.2 })));
    const { nodes } = JSON.parse(String(profile)) as {
      nodes: { callFrame: { functionName: string } }[];
    };
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('keepBusyWhile');
  });

  it('is a trace of what Node does, and how it ended', async () => {
    const trace = await whole(new Diagnostics().trace({ seconds: 0.2 }));
    const { traceEvents, metadata } = JSON.parse(String(trace)) as {
      traceEvents: unknown[];
      metadata: object;
    };
    expect(traceEvents.length).toBeGreaterThan(0);
    expect(metadata).toEqual({ ended: 'time' });
  });

  it('is what keeps it alive', () => {
    const waiting = setInterval(() => undefined, 1_000_000);
    expect(activeHandles()).toContainEqual({
      kind: 'Timeout',
      count: expect.any(Number) as number,
    });
    clearInterval(waiting);
  });
});

describe('a question', () => {
  const code = (error: unknown): string => (isFeatureError(error) ? error.code : '');

  it('is refused while one of its kind is under way, and answered once that one was abandoned', async () => {
    const diagnostics = new Diagnostics();
    for (const ask of [
      (signal: AbortSignal) => whole(diagnostics.cpu({ seconds: 60, signal })),
      (signal: AbortSignal) => whole(diagnostics.trace({ seconds: 60, signal })),
      (signal: AbortSignal) => diagnostics.stacks({ seconds: 60, signal }),
    ]) {
      const given = new AbortController();
      const first = ask(given.signal).catch(code);
      const never = new AbortController().signal;
      expect(await ask(never).catch(code)).toBe('busy');
      given.abort(new FeatureError('unknown', 'given up'));
      expect(await first).toBe('unknown');
      const again = new AbortController();
      const next = ask(again.signal).catch(code);
      again.abort(new FeatureError('unknown', 'given up'));
      expect(await next).toBe('unknown');
    }
  });

  it.each([0, -1, 61, NaN, Infinity])('for %s seconds is refused', async (seconds) => {
    const diagnostics = new Diagnostics();
    const asked = [
      diagnostics.stacks({ seconds }),
      whole(diagnostics.cpu({ seconds })),
      whole(diagnostics.trace({ seconds })),
    ];
    for (const each of asked) expect(await each.catch(code)).toBe('invalidArgument');
  });

  it.each([
    [{ usedBytes: 64 * 2 ** 20 + 1, availableBytes: Infinity }],
    [{ usedBytes: 10 * 2 ** 20, availableBytes: 100 * 2 ** 20 }],
  ])('for a heap that is too large for the process is refused: %j', (heap) => {
    expect(() => requireFreeHeap(heap)).toThrow(
      expect.objectContaining({ code: 'tooLarge' }) as Error,
    );
  });

  it('for a heap that fits is not', () => {
    requireFreeHeap({ usedBytes: 10 * 2 ** 20, availableBytes: 200 * 2 ** 20 });
  });
});
