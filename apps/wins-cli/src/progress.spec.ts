import { showProgress, type ProgressTerminal } from './progress.js';

describe('progress', () => {
  let written: string[];
  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
  });
  afterEach(() => jest.useRealTimers());
  const terminal = (more: Partial<ProgressTerminal> = {}): ProgressTerminal => ({
    isTTY: true,
    columns: 80,
    write: (text: unknown) => written.push(String(text)) > 0,
    ...more,
  });
  const begin = (more: Partial<ProgressTerminal> = {}, quiet = false) =>
    showProgress('waiting for "x"', { afterMs: 2000, quiet, terminal: terminal(more) });

  it('is silent about what is soon over', () => {
    const progress = begin();
    jest.advanceTimersByTime(1999);
    progress[Symbol.dispose]();
    jest.advanceTimersByTime(10_000);
    expect(written).toEqual([]);
  });

  it('is one line, written again each second, and taken away at the end', () => {
    const progress = begin();
    jest.advanceTimersByTime(3000);
    progress[Symbol.dispose]();
    progress[Symbol.dispose]();
    jest.advanceTimersByTime(10_000);
    expect(written).toEqual([
      '\r\u001b[Kwins: waiting for "x" (2 s; Ctrl-C cancels)',
      '\r\u001b[Kwins: waiting for "x" (3 s; Ctrl-C cancels)',
      '\r\u001b[K',
    ]);
  });

  it('is cut to the width of the terminal, so that it can be taken away', () => {
    begin({ columns: 12 });
    jest.advanceTimersByTime(2000);
    expect(written).toEqual(['\r\u001b[Kwins: waiti']);
  });

  it.each<[string, Partial<ProgressTerminal>, boolean]>([
    ['elsewhere than on a terminal', { isTTY: false }, false],
    ['when told to be quiet', {}, true],
  ])('is not shown %s', (_where, more, quiet) => {
    begin(more, quiet);
    jest.advanceTimersByTime(60_000);
    expect(written).toEqual([]);
  });
});
