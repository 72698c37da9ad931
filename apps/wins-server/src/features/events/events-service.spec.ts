import { status } from '@grpc/grpc-js';
import { EventRing } from '../../kernel/events/event-ring.js';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { eventsServiceDefinition, type EventsServiceServer } from '@wins/wins-api/contract';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClientIdentity, Show } from '@wins/base';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { privateFolder } from '../../testing/private-folder.js';
import { serveCalls } from '../../testing/serve-calls.js';
import { resourceTable } from '../../kernel/admission/resources.js';
import { Shares } from '../../kernel/admission/shares.js';
import { rpcError } from '../../kernel/rpc/rpc-errors.js';
import { eventsOf, showEvents } from './command.js';
import { createEventsService, eventsDirectoryOf } from './feature.js';

const { read } = eventsServiceDefinition;

/** The events of an answer, which has a line for each. */
function eventsIn({
  lines,
}: {
  readonly lines: string;
}): readonly Readonly<Record<string, unknown>>[] {
  const all = lines === '' ? [] : lines.split('\n');
  return all.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

describe('the service of events', () => {
  let folder: string;
  let ring: EventRing;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-events-'));
    ring = new EventRing(privateFolder(path.join(folder, 'events')));
  });
  afterEach(async () => {
    await ring.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const followers = new Shares(resourceTable(1024).followers);
  async function as<T>(
    client: ClientIdentity,
    ask: (daemon: WinsClient) => Promise<T>,
  ): Promise<T> {
    const address = path.join(folder, 'socket');
    await using _calls = await serveCalls(
      address,
      (server, callers) =>
        server.addService(
          eventsServiceDefinition,
          createEventsService({ journal: ring, callers, followers }),
        ),
      undefined,
      client,
    );
    await using daemon = createWinsClient({ address });
    return await ask(daemon);
  }
  const request = (after = 0, wait = false, since = '') => ({ after, wait, since });

  it('answers administrators of the host alone (A86)', async () => {
    ring.tell('started');
    await as(CONTAINER, async (daemon) => {
      const refused = { code: 'refused', reason: 'notAdministrator' };
      await expect(daemon.call(read, request())).rejects.toMatchObject(refused);
      await expect(daemon.call(read, request(0, true))).rejects.toMatchObject(refused);
    });
    const answer = await as(ADMINISTRATOR, (daemon) => daemon.call(read, request()));
    expect(answer).toMatchObject({ next: 1, more: false });
    expect(eventsIn(answer)).toMatchObject([{ seq: 1, type: 'started' }]);
  });

  it('gives pages, until there are no more', async () => {
    const long = Object.fromEntries(Array.from({ length: 14 }, (_, n) => [n, 'x'.repeat(256)]));
    for (let n = 0; n < 400; n += 1) ring.tell('one', { n, ...long, text: 'x\ny' });
    await as(ADMINISTRATOR, async (daemon) => {
      const first = await daemon.call(read, request());
      const { length } = eventsIn(first);
      expect([first.next, first.more]).toEqual([length, true]);
      const rest = await daemon.call(read, request(first.next));
      const others = eventsIn(rest);
      expect([length + others.length, rest.next, rest.more]).toEqual([400, 400, false]);
      expect(others[0]).toMatchObject({ n: length, ...long, text: 'x\ny' });
      expect(await daemon.call(read, request(400))).toEqual({ lines: '', next: 400, more: false });
    });
  });

  it('is read page by page', async () => {
    const long = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [n, 'x'.repeat(256)]));
    for (let n = 0; n < 600; n += 1) ring.tell('one', { n, ...long });
    const numbers = async () => {
      const found: number[] = [];
      const server = path.join(folder, 'socket');
      for await (const events of eventsOf({ server }, { since: undefined, follow: false }))
        found.push(...events.map(({ seq }) => seq));
      return found;
    };
    const all = Array.from({ length: 600 }, (_, n) => n + 1);
    expect(await as(ADMINISTRATOR, numbers)).toEqual(all);
  });

  it('answers who waits with the next event, six at a time', async () => {
    await as(ADMINISTRATOR, async (daemon) => {
      const waiting = Array.from({ length: 6 }, () => daemon.call(read, request(0, true)));
      // Calls of one connection are processed in order, so the first six already wait.
      await expect(daemon.call(read, request(0, true))).rejects.toMatchObject({
        reason: 'tooManyFollowers',
      });
      ring.tell('awaited');
      for (const answer of await Promise.all(waiting))
        expect(eventsIn(answer)).toMatchObject([{ type: 'awaited' }]);
      ring.tell('next');
      const answer = await daemon.call(read, request(1, true));
      expect(eventsIn(answer)).toMatchObject([{ type: 'next' }]);
    });
  });

  it('escapes a refusal when the disk is read instead, and advises a command for the same config', async () => {
    const address = path.join(folder, 'socket');
    ring.tell('started');
    await using onDisk = new EventRing(privateFolder(eventsDirectoryOf(address)));
    onDisk.tell('kept');
    await onDisk.flush();
    const said: string[] = [];
    const stderr = jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said.push(String(text));
      return true;
    });
    const shown: unknown[] = [];
    const show: Show = async (...answers) => {
      shown.push(...answers.map(({ value }) => value));
      return Promise.resolve(true);
    };
    const options = { server: address, config: '/etc/a config', follow: false };
    try {
      const refusing: EventsServiceServer = {
        read: (_call, respond) => {
          respond(rpcError(status.PERMISSION_DENIED, 'notAdministrator', 'no\u001b[31m'));
        },
      };
      await using _calls = await serveCalls(address, (server) =>
        server.addService(eventsServiceDefinition, refusing),
      );
      await showEvents(options, { show });
      rmSync(address, { force: true });
      await showEvents(options, { show });
    } finally {
      stderr.mockRestore();
    }
    expect(shown).toMatchObject([{ type: 'kept' }, { type: 'kept' }]);
    expect(said.join('')).toContain('no\\u001b[31m; run this as an administrator of the host');
    expect(said.join('')).toContain('"wins doctor --config "/etc/a config"" shows details');
  });

  it('finds events since a time', async () => {
    ring.tell('one');
    await as(ADMINISTRATOR, async (daemon) => {
      const later = new Date(Date.now() + 60_000).toISOString();
      expect((await daemon.call(read, request(0, false, later))).lines).toBe('');
      await expect(daemon.call(read, request(0, false, 'ever'))).rejects.toMatchObject({
        reason: 'invalidSince',
      });
    });
  });
});
