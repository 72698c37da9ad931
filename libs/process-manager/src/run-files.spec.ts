import fc from 'fast-check';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { assertRunFiles, type FilesGrant, type RunFile } from './policy/run-files.js';
import type { ManagedProcess } from './supervision/managed-process.js';
import {
  codeOf,
  ManagerHarness,
  outputOf,
  requestFor,
  TestOwner,
  untilOutput,
} from './testing/manager-harness.js';
import type { TestProgram } from './testing/test-program.js';

const GRANT: FilesGrant = { max: 2, maxBytes: 64 };

const file = (name: string, content = 'secret'): RunFile => ({
  name,
  content: Buffer.from(content),
});

describe('the files of a run', () => {
  let harness: ManagerHarness;
  let shows: TestProgram;
  let waits: TestProgram;
  beforeEach(() => {
    harness = new ManagerHarness();
    shows = harness.program('shows', 'cd "$WINS_FILES" && pwd && stat -c "%a %n" . * && cat *');
    waits = harness.program('waits', 'echo up; exec sleep 1000');
  });
  afterEach(() => harness.close());

  const manager = () => {
    const allowed = [shows, waits].map((program) => ({ path: program.path, files: GRANT }));
    return harness.manager([], { allowed });
  };
  const folders = (): string[] => {
    const folder = path.join(harness.stateDirectory, 'files');
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const folderOf = ({ mark }: ManagedProcess) => path.join(harness.stateDirectory, 'files', mark);

  it('are there before the program, for its account alone, and gone once its end is known', async () => {
    const files = [file('ca.crt', 'c'), file('token', 't')];
    const run = await manager().start(requestFor(shows, { files }));
    const { stdout } = await outputOf(run);
    const lines = stdout.split('\n');
    expect(lines).toEqual([folderOf(run), '700 .', '400 ca.crt', '400 token', 'ct']);
    await run.ended;
    expect(folders()).toEqual([]);
  });

  it('are replaced atomically: a reader has one content or the other', async () => {
    const run = await manager().start(
      requestFor(waits, { files: [file('token', 'a'.repeat(64))] }),
    );
    const token = path.join(folderOf(run), 'token');
    const before = lstatSync(token).ino;
    await run.updateFile('pipe:1', file('token', 'b'.repeat(64)));
    expect([readFileSync(token, 'latin1'), statSync(token).mode & 0o777]).toEqual([
      'b'.repeat(64),
      0o400,
    ]);
    expect(lstatSync(token).ino).not.toBe(before);
    expect(readdirSync(folderOf(run))).toEqual(['token']);
    await run.stop('pipe:1');
    expect(await codeOf(run.updateFile('pipe:1', file('token')))).toBe('notFound');
    expect(folders()).toEqual([]);
  });

  it('are in the records by name and size, and nowhere by content', async () => {
    const run = await manager().start(requestFor(waits, { files: [file('token')] }));
    await run.updateFile('pipe:1', file('token', 'secret too'));
    await run.stop('pipe:1');
    expect(harness.decisions).toMatchObject([
      { action: 'start', verdict: 'allowed', files: ['token 6'] },
      { action: 'updateFile', verdict: 'allowed', files: ['token 10'], mark: run.mark },
      { action: 'stop' },
    ]);
    const told = JSON.stringify([harness.decisions, harness.events]);
    expect(told).not.toMatch(/secret|c2VjcmV0|115,101,99/);
  });

  it.each<[string, FilesGrant | undefined, readonly RunFile[], string]>([
    ['without a grant', undefined, [file('a')], 'filesNotAllowed'],
    ['that are too many', GRANT, [file('a'), file('b'), file('c')], 'filesNotAllowed'],
    [
      'that are too large together',
      GRANT,
      [file('a'), file('b', 'x'.repeat(59))],
      'filesNotAllowed',
    ],
    ['with two names that differ by case alone', GRANT, [file('a'), file('A')], 'invalidArgument'],
  ])('%s refuse the start, before anything is written (A130)', async (_how, grant, files, code) => {
    const allowed = [{ path: waits.path, ...(grant && { files: grant }) }];
    const refusing = harness.manager([], { allowed });
    expect(await codeOf(refusing.start(requestFor(waits, { files })))).toBe(code);
    expect([folders(), readdirSync(harness.programs)]).toEqual([[], ['shows', 'waits']]);
    expect(harness.decisions).toMatchObject([{ verdict: 'refused', code }]);
  });

  it('refuse the start when a client has its share of bytes, and give the room back at its end', async () => {
    let left = 64;
    const takeFileBytes = (_owner: unknown, bytes: number) => {
      if (bytes > left) return undefined;
      left -= bytes;
      return () => (left += bytes);
    };
    const slots = { take: () => () => undefined, takeFileBytes };
    const allowed = [shows, waits].map((program) => ({ path: program.path, files: GRANT }));
    const sharing = harness.manager([], { allowed, slots });
    const run = await sharing.start(requestFor(waits, { files: [file('a', '')] }));
    const more = requestFor(shows, { files: [file('a')] });
    expect([left, await codeOf(sharing.start(more))]).toEqual([0, 'tooManyProcesses']);
    await run.stop('pipe:1');
    expect(left).toBe(64);
  });

  it('cannot be changed by another connection, beyond the grant, or by another name (A131)', async () => {
    const run = await manager().start(requestFor(waits, { files: [file('token')] }));
    const token = path.join(folderOf(run), 'token');
    const changes: [string, RunFile][] = [
      ['pipe:2', file('token', 'x')],
      ['pipe:1', file('token', 'x'.repeat(65))],
      ['pipe:1', file('other', 'x')],
      ['pipe:1', file('../token', 'x')],
    ];
    const codes = [];
    for (const change of changes) codes.push(await codeOf(run.updateFile(...change)));
    expect(codes).toEqual(['notOwner', 'filesNotAllowed', 'notFound', 'notFound']);
    expect(readFileSync(token, 'latin1')).toBe('secret');
    expect(harness.decisions.slice(1).map(({ verdict }) => verdict)).toEqual(
      codes.map(() => 'refused'),
    );
  });

  it('cannot be changed in a flood: one at a time, and as many as a token bucket allows (A131)', async () => {
    const run = await manager().start(requestFor(waits, { files: [file('token')] }));
    const change = (text: string) => codeOf(run.updateFile('pipe:1', file('token', text)));
    expect(await Promise.all([change('1'), change('2')])).toEqual(['no error', 'tooManyChanges']);
    const codes = [];
    for (let each = 0; each < 100; each += 1) codes.push(await change(String(each)));
    // The successful change above used one token of 32.
    expect(codes.indexOf('tooManyChanges')).toBeGreaterThanOrEqual(31);
  });

  it('are not changed when that cannot be recorded', async () => {
    const onDecision = ({ action }: { readonly action: string }) => {
      if (action === 'updateFile') throw new Error('the disk is full');
    };
    const allowed = [{ path: waits.path, files: GRANT }];
    const recording = harness.manager([], { allowed, onDecision });
    const run = await recording.start(requestFor(waits, { files: [file('token')] }));
    const code = await codeOf(run.updateFile('pipe:1', file('token', 'x')));
    const content = readFileSync(path.join(folderOf(run), 'token'), 'latin1');
    expect([code, content]).toEqual(['auditUnavailable', 'secret']);
  });

  it('are never written through a link, of a file or of the folder (A132)', async () => {
    const run = await manager().start(requestFor(waits, { files: [file('token')] }));
    const victim = path.join(harness.directory.path, 'victim');
    writeFileSync(victim, 'victim');
    const token = path.join(folderOf(run), 'token');
    rmSync(token);
    symlinkSync(victim, token);
    await run.updateFile('pipe:1', file('token', 'new'));
    expect([readFileSync(token, 'latin1'), lstatSync(token).isFile()]).toEqual(['new', true]);

    const elsewhere = path.join(harness.directory.path, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    rmSync(folderOf(run), { recursive: true });
    symlinkSync(elsewhere, folderOf(run));
    expect(await codeOf(run.updateFile('pipe:1', file('token', 'new')))).toBe('stateUnavailable');
    await run.stop('pipe:1');
    expect([readdirSync(elsewhere), folders(), readFileSync(victim, 'latin1')]).toEqual([
      [],
      [],
      'victim',
    ]);
  });

  it('are gone when the program cannot start, and when its client goes away', async () => {
    const broken = harness.program('broken', '', '/no/such/interpreter');
    const allowed = [broken, waits].map((program) => ({ path: program.path, files: GRANT }));
    const failing = harness.manager([], { allowed });
    expect(await codeOf(failing.start(requestFor(broken, { files: [file('token')] })))).not.toBe(
      'no error',
    );
    expect(folders()).toEqual([]);
    const owner = new TestOwner();
    const run = await failing.start(requestFor(waits, { owner, files: [file('token')] }));
    await untilOutput(run.read('pipe:1'), 'up');
    expect(folders()).toEqual([run.mark]);
    owner.disconnect();
    await run.ended;
    expect(folders()).toEqual([]);
  });

  it('of a daemon that died are removed by the recovery of the next, those of a living run are not', async () => {
    const first = manager();
    const run = await first.start(requestFor(waits, { files: [file('token')] }));
    const left = path.join(harness.stateDirectory, 'files', 'ab'.repeat(16));
    mkdirSync(left, { mode: 0o700 });
    writeFileSync(path.join(left, 'token'), 'secret');
    const other = path.join(harness.stateDirectory, 'files', 'other');
    writeFileSync(other, '');
    await manager().recover();
    expect(folders().sort()).toEqual([run.mark, 'other'].sort());
  });
});

describe('the name of a file', () => {
  const rule = { path: '/opt/tool', files: { max: 32, maxBytes: 1024 } };
  const isTaken = (name: string): boolean => {
    try {
      assertRunFiles([file(name)], rule);
      return true;
    } catch {
      return false;
    }
  };

  it.each(['token', 'ca.crt', 'tls-key_2.PEM', '0', 'con1', 'a'.repeat(64)])(
    'may be %s',
    (name) => {
      expect(isTaken(name)).toBe(true);
    },
  );

  it.each([
    '',
    '.',
    '..',
    '...',
    '.hidden',
    'a.',
    'a b',
    'a/b',
    'a\\b',
    '../a',
    'C:a',
    'a:stream',
    'CON',
    'nul',
    'Aux.txt',
    'com1.log',
    'LPT9',
    'com¹',
    'conin$',
    'a\0b',
    'a\n',
    'ü',
    '-a',
    'a'.repeat(65),
    '~1',
    'a*',
    'a%TEMP%',
  ])('may not be %j (A130)', (name) => {
    expect(isTaken(name)).toBe(false);
  });

  it('that is accepted leads to one file in its folder, on each system, whatever the text (A130)', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 70 }),
      fc.string({ unit: fc.constantFrom(...Array.from('aZ09._-/\\: ~$')), maxLength: 12 }),
      fc.constantFrom('con', 'PRN', 'aux', 'Nul', 'COM3', 'lpt0').map((name) => `${name}.x`),
    );
    fc.assert(
      fc.property(text, (name) => {
        if (!isTaken(name)) return;
        // Below a folder, because Node takes a bare `nul0` for a device.
        expect(path.win32.normalize(`C:\\run\\${name}`)).toBe(`C:\\run\\${name}`);
        expect([path.posix.basename(name), path.win32.basename(name)]).toEqual([name, name]);
        expect(name).toMatch(/^[A-Za-z0-9].*[^.]$|^[A-Za-z0-9]$/);
        expect(name).not.toMatch(/^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i);
      }),
      { numRuns: 2000 },
    );
  });
});
