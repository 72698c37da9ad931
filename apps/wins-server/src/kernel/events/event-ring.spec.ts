import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { privateFolder } from '../../testing/private-folder.js';
import { EventRing, type EventRingOptions, type PageOptions } from './event-ring.js';
import { decodeEvents, readEvents, type RingEvent } from './ring-files.js';

// On Linux, a folder of /proc simulates a full disk: it can be opened but not written.
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('a ring of events', () => {
  let root: string;
  let directory: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'event-ring-'));
    directory = path.join(root, 'events');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const ringWith = (options: Partial<EventRingOptions> = {}) =>
    new EventRing({ ...privateFolder(directory), ...options });
  async function kept(range: Parameters<typeof readEvents>[1] = {}): Promise<RingEvent[]> {
    const events: RingEvent[] = [];
    for await (const stored of readEvents(directory, range))
      events.push(...decodeEvents(stored.map(({ text }) => text)));
    return events;
  }
  async function pageOf(ring: EventRing, options: PageOptions = {}) {
    const { lines, ...page } = await ring.page(options);
    return { events: decodeEvents(lines), ...page };
  }
  const seqs = (events: readonly RingEvent[]) => events.map(({ seq }) => seq);
  async function tellMany(ring: EventRing, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      ring.tell('one', { n });
      if (n % 1000 === 999) await ring.page({ after: n });
    }
  }

  it('numbers its events over restarts', async () => {
    for (const type of ['first', 'second']) {
      await using ring = ringWith();
      ring.tell(type, { code: 7, isWell: true, left: undefined });
    }
    expect(await kept()).toEqual([
      { seq: 1, time: expect.any(String) as string, type: 'first', code: 7, isWell: true },
      { seq: 2, time: expect.any(String) as string, type: 'second', code: 7, isWell: true },
    ]);
  });

  it('keeps the last events, and no more than one file beyond them', async () => {
    await using ring = ringWith({ maxEvents: 100 });
    await tellMany(ring, 1000);
    await ring.page();
    const found = seqs(await kept());
    expect(found.at(-1)).toBe(1000);
    expect(found.length).toBeGreaterThanOrEqual(100);
    expect(found.length).toBeLessThanOrEqual(100 + 10);
    expect(found).toEqual(found.map((_, index) => (found[0] ?? 0) + index));
  });

  it('stays within its bytes, whatever the events are', async () => {
    const maxBytes = 2 ** 20;
    await using ring = ringWith({ maxBytes });
    for (let round = 0; round < 20; round += 1) {
      for (let n = 0; n < 100; n += 1) ring.tell('long', { a: '\0'.repeat(1000) });
      await ring.page({ after: round * 100 });
    }
    const names = await readdir(directory);
    const sizes = await Promise.all(
      names.map(async (name) => (await stat(path.join(directory, name))).size),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThanOrEqual(maxBytes);
    expect(total).toBeGreaterThan(maxBytes / 2);
    expect((await kept()).at(-1)?.seq).toBe(2000);
  });

  it('goes on behind what a crash left of a line', async () => {
    await using first = ringWith();
    first.tell('whole');
    await first.close();
    const [name = ''] = await readdir(directory);
    await appendFile(path.join(directory, name), '{"seq":2,"time":"2026-');
    await using second = ringWith();
    second.tell('after');
    await second.close();
    const whole = { seq: 1, type: 'whole' };
    expect(await kept()).toMatchObject([whole, { seq: 2, type: 'after' }]);
    expect(await readFile(path.join(directory, name), 'utf8')).not.toContain('2026-{');
  });

  it('leaves out what is no event, and numbers on', async () => {
    await using first = ringWith();
    first.tell('one');
    await first.close();
    const [name = ''] = await readdir(directory);
    await appendFile(path.join(directory, name), 'nonsense\n{"seq":"x"}\n[1]\n');
    await using second = ringWith();
    second.tell('two');
    await second.close();
    expect(seqs(await kept())).toEqual([1, 2]);
  });

  it('loses only events beyond its queue while the disk fails, and reports their number', async () => {
    const changes: boolean[] = [];
    await using ring = ringWith({ onChange: (isAvailable) => changes.push(isAvailable) });
    ring.tell('before');
    await ring.page();
    await rename(directory, `${directory}.away`);
    await writeFile(directory, 'a file where the folder was');
    for (let n = 0; n < 3000; n += 1) ring.tell('meanwhile', { n });
    await ring.flush();
    await expect(kept()).rejects.toMatchObject({ code: 'eventsUnreadable' });
    await rm(directory);
    await rename(`${directory}.away`, directory);
    const { events } = await pageOf(ring, { after: 2047 });
    expect(events.at(-1)).toMatchObject({ type: 'lost', count: 952 });
    expect(changes).toEqual([true, false, true]);
  });

  onLinux(
    'keeps no more in memory while its folder can be read and not written, however often it tries',
    async () => {
      // Nobody can create a file there, not even root.
      await symlink('/proc/self', directory);
      await using ring = ringWith({ prepareDirectory: () => undefined });
      for (let n = 0; n < 3000; n += 1) ring.tell('meanwhile', { n });
      for (let n = 0; n < 10; n += 1) {
        ring.tell('later');
        await ring.flush();
      }
      await rm(directory);
      await mkdir(directory);
      await ring.close();
      const events = await kept();
      const lost = events.filter(({ type }) => type === 'lost');
      expect(lost.reduce((sum, { count }) => sum + Number(count), 0)).toBe(3000 - 2048 + 10);
      expect([events.length, lost.length]).toEqual([2048 + 1, 1]);
    },
  );

  it('tells no event twice to who follows, whatever is written while a page is read', async () => {
    await using ring = ringWith();
    await tellMany(ring, 1000);
    await ring.flush();
    for (let round = 0; round < 10; round += 1) {
      const reading = pageOf(ring, { after: 800 });
      for (let n = 0; n < 5; n += 1) {
        ring.tell('meanwhile');
        await ring.flush();
      }
      const { events, next } = await reading;
      expect(next).toBe(events.at(-1)?.seq);
    }
  });

  it('tells who follows without reading back what it has just written', async () => {
    await using ring = ringWith();
    for (let n = 0; n < 200; n += 1) ring.tell('one', { n, none: undefined });
    await ring.flush();
    const events = await kept({ after: 198 });
    await rm(directory, { recursive: true });
    expect(await pageOf(ring, { after: 198 })).toEqual({ events, next: 200, isPart: false });
    expect((await pageOf(ring, { after: 10 })).events).toEqual([]);
  });

  it('names the file to which another has written, and goes on behind that', async () => {
    const reasons: unknown[] = [];
    await using ring = ringWith({ onChange: (_is, reason) => reasons.push(reason) });
    ring.tell('one');
    await ring.flush();
    const [name = ''] = await readdir(directory);
    const file = path.join(directory, name);
    await appendFile(file, 'x');
    ring.tell('two');
    await ring.flush();
    expect(String(reasons[1])).toContain(`cannot write "${file}": found `);
    await ring.flush();
    expect(seqs(await kept())).toEqual([1, 2]);
  });

  it('tells a page at a time, and where to go on', async () => {
    await using ring = ringWith();
    const facts = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [n, 'x'.repeat(256)]));
    for (let n = 0; n < 400; n += 1) ring.tell('one', facts);
    const first = await pageOf(ring);
    const count = first.events.length;
    expect([first.next, first.isPart]).toEqual([count, true]);
    expect(JSON.stringify(first.events).length).toBeLessThan(2 ** 20 + 2 * 8_192);
    const rest = await pageOf(ring, { after: first.next });
    expect([rest.next, rest.isPart]).toEqual([400, false]);
    const all = Array.from({ length: 400 }, (_, n) => n + 1);
    expect(seqs([...first.events, ...rest.events])).toEqual(all);
  });

  it('wakes who waits for an event, and lets go who no longer does', async () => {
    await using ring = ringWith();
    const wanted = pageOf(ring, { waitUntil: new AbortController().signal });
    const givenUp = new AbortController();
    const other = pageOf(ring, { after: 7, waitUntil: givenUp.signal });
    ring.tell('awaited');
    expect(await wanted).toMatchObject({ events: [{ type: 'awaited' }], next: 1 });
    givenUp.abort();
    expect(await other).toMatchObject({ events: [], next: 7 });
    const last = pageOf(ring, { after: 1, waitUntil: new AbortController().signal });
    await ring.close();
    expect((await last).events).toEqual([]);
  });

  it('has written what was told once it is flushed', async () => {
    await using ring = ringWith();
    ring.tell('one');
    await ring.flush();
    expect(seqs(await kept())).toEqual([1]);
  });

  it('finds events since a time', async () => {
    await using ring = ringWith();
    ring.tell('one');
    await ring.page();
    const since = (ms: number) => ({ since: new Date(Date.now() + ms) });
    expect(await kept(since(-60_000))).toHaveLength(1);
    expect(await kept(since(60_000))).toHaveLength(0);
  });

  it('lets no flood push out the rest (A85)', async () => {
    let nowMs = 0;
    await using ring = ringWith({ nowMs: () => nowMs });
    ring.tell('plan', { state: 'failed' });
    for (let round = 0; round < 20; round += 1) {
      for (let n = 0; n < 1000; n += 1) ring.tell('decided', {}, 'refused');
      await ring.page({ after: 1_000_000 });
    }
    nowMs += 60_000;
    for (let n = 0; n < 1000; n += 1) ring.tell('decided', {}, 'refused');
    await ring.close();
    const events = await kept();
    expect(events[0]).toMatchObject({ type: 'plan' });
    expect(events.filter(({ type }) => type === 'decided')).toHaveLength(1000 + 60);
    const counted = events.filter(({ type }) => type === 'counted');
    expect(counted.reduce((sum, { count }) => sum + Number(count), 0)).toBe(20_000 - 1000 + 940);
    // `counted` events use space too, so there must be few.
    expect(counted).toHaveLength(2);
  });

  it('gives foreign text no line and no terminal (A34)', async () => {
    await using ring = ringWith();
    ring.tell('one', { text: 'a\n{"seq":9}\u001b[2J\u202e', seq: 9, type: 'forged' });
    await ring.close();
    expect(await kept()).toMatchObject([{ seq: 1, type: 'one' }]);
    const [name = ''] = await readdir(directory);
    expect(await readFile(path.join(directory, name), 'utf8')).toMatch(/^[\x20-\x7e]*\n$/);
  });

  it('is for its user alone', async () => {
    await using ring = ringWith();
    ring.tell('one');
    await ring.close();
    if (process.platform === 'win32') return;
    const [name = ''] = await readdir(directory);
    const modes = [directory, path.join(directory, name)].map(async (file) =>
      ((await stat(file)).mode & 0o777).toString(8),
    );
    expect(await Promise.all(modes)).toEqual(['700', '600']);
  });
});
