import { LeapingClock } from '@wins/net/testing';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  answer,
  resetAfter,
  silent,
  type ApiFault,
  type ApiRequest,
  type ApiServerOptions,
} from '../testing/index.js';
import { startForgetfulBox } from '../testing/forgetful-box.js';
import { SimulatedTime } from '../testing/simulated-time.js';
import type { SecretStoreOptions } from './api-connection.js';
import {
  AT_START,
  closeStores,
  isWatch,
  never,
  serve,
  stops,
  storeOf,
  watching,
} from '../testing/store-harness.js';

afterEach(closeStores);

/** Defaults of the store. */
const ANSWER_MS = 30_000;
const QUIET_MS = 90_000;

describe('watching', () => {
  it('leaves no connection to the server behind', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const sockets: Socket[] = [];
    const keep: ApiFault = (_request, { socket }, proceed) => {
      if (socket === null) return;
      // Keeps the server from closing an idle connection.
      (socket as unknown as { readonly server: Server }).server.keepAliveTimeout = 0;
      sockets.push(socket);
      proceed();
    };
    server.fault(keep);
    const store = storeOf(server);
    const watch = watching(store);
    await watch.connected();
    await store.read({ signal: never });
    const closed = sockets.map((socket) => once(socket, 'close'));
    expect(closed).toHaveLength(2);
    await watch.stop();
    await Promise.all(closed);
  });

  it('reports the Secret as it is, then each change, and that it is gone', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server));
    await watch.reports(1);
    server.update({ plan: 'second' });
    server.bookmark();
    server.remove();
    server.create({ plan: 'third' });
    expect(await watch.reports(4)).toEqual(['first', 'second', 'none', 'third']);
    expect(watch.states).toEqual([{ kind: 'connected' }]);
    expect(server.requests).toHaveLength(1);
  });

  it('asks for the Secret alone, with initial events and bookmarks, for five to ten minutes', async () => {
    const server = await serve();
    const watch = watching(storeOf(server, { random: () => 0.5 }));
    await watch.connected();
    const [request] = server.requests;
    expect(request?.path).toBe('/api/v1/namespaces/fleet-default/secrets');
    expect(Object.fromEntries(request?.query ?? [])).toEqual({
      allowWatchBookmarks: 'true',
      fieldSelector: 'metadata.name=demo-machine-plan',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: 'true',
      timeoutSeconds: '450',
      watch: 'true',
    });
  });

  it('reports that there is no Secret, and the one that comes', async () => {
    const server = await serve();
    const watch = watching(storeOf(server));
    await watch.reports(1);
    server.create({ plan: 'late' });
    expect(await watch.reports(2)).toEqual(['none', 'late']);
  });

  it('begins anew at once when the server ends it at its time, and reports nothing twice', async () => {
    const timers = new SimulatedTime();
    const clock = new LeapingClock();
    const server = await serve();
    server.create({ plan: 'first' });
    const options = { clock, startTimer: timers.startTimer, quietMs: 1e9 };
    const watch = watching(storeOf(server, options));
    await watch.connected();
    await timers.run(300_000);
    const again = server.nextRequest(isWatch);
    server.endWatches();
    await again;
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect([watch.failures(), clock.waits]).toEqual([[], []]);
  });

  it('reports what happened while the connection was lost', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const watch = watching(storeOf(server));
    await watch.connected();
    await server.down();
    server.update({ plan: 'second' });
    await watch.until(() => watch.failures().length > 2);
    await server.up();
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(new Set(watch.failures())).toEqual(new Set(['unreachable']));
    await watch.connected();
  });

  it.each(['event', 'status'] as const)(
    'reads the Secret from the start when its version is too old, known by its %s',
    async (expiredAs) => {
      const server = await serve({ expiredAs });
      server.create({ plan: 'first' });
      const watch = watching(storeOf(server));
      await watch.connected();
      await server.down();
      server.remove();
      server.compact();
      await server.up();
      expect(await watch.reports(2)).toEqual(['first', 'none']);
    },
  );

  it.each(['event', 'status'] as const)(
    'does not wait once more after a long outage in which the history has gone, known by its %s',
    async (expiredAs) => {
      const server = await serve({ expiredAs });
      server.create({ plan: 'first' });
      const watch = watching(storeOf(server));
      await watch.connected();
      await server.down();
      server.update({ plan: 'second' });
      server.compact();
      await watch.until(() => watch.failures().length > 4);
      await server.up();
      expect(await watch.reports(2)).toEqual(['first', 'second']);
      expect(new Set(watch.failures())).toEqual(new Set(['unreachable']));
    },
  );

  it('waits when the history has gone again as soon as the Secret was read', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    const object = server.create({ plan: 'first' });
    const gone = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410 };
    const lines = [
      { type: 'ADDED', object },
      { type: 'ERROR', object: gone },
    ];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    server.fault(answer(200, body), { when: isWatch });
    const watch = watching(storeOf(server, { clock }));
    await watch.until(() => watch.failures().length === 4);
    await watch.stop();
    expect(new Set(watch.failures())).toEqual(new Set(['expired']));
    expect(server.requests.length).toBeLessThanOrEqual(4 * 5);
  });

  const proceed: ApiFault = (_request, _response, next) => next();
  const line = (event: object) => `${JSON.stringify(event)}\n`;
  const error = (code: number) => line({ type: 'ERROR', object: { kind: 'Status', code } });
  const news = (version: string) =>
    line({ type: 'BOOKMARK', object: { kind: 'Secret', metadata: { resourceVersion: version } } });
  const hang =
    (bytes: string): ApiFault =>
    (_request, response) =>
      void response.writeHead(200).write(bytes);
  /** Omits the bookmark after the initial events. */
  const withoutEnd: ApiFault = (_request, response, proceed) => {
    const write = response.write.bind(response) as (chunk: string) => boolean;
    response.write = (chunk: string) => chunk.includes('BOOKMARK') || write(chunk);
    proceed();
  };

  /** Timers whose time-out for an answer ends once the answer has begun, and this number of parts has arrived. */
  const silentAfter = (parts: number): Pick<SecretStoreOptions, 'startTimer'> => {
    const timers = new SimulatedTime();
    let awaited = parts + 1;
    const arrived = (): void => {
      awaited -= 1;
      if (awaited === 0) void timers.run(ANSWER_MS);
    };
    return {
      startTimer: (end, ms) => {
        const timer = timers.startTimer(end, ms);
        // The timer for silence starts with the answer, and starts again with each part.
        if (ms !== QUIET_MS) return timer;
        arrived();
        const { refresh } = timer;
        timer.refresh = () => {
          arrived();
          return refresh();
        };
        return timer;
      },
    };
  };
  type PartsOf = (secret?: string) => number;
  describe.each<[string, ApiFault, ApiServerOptions?, PartsOf?]>([
    ['refuses it by 422', proceed, { watchList: false }],
    ['refuses it by an error event of 500', proceed, { watchList: 'failing' }],
    ...[400, 404, 405, 406, 410, 429, 500, 501, 504].flatMap((code): [string, ApiFault][] => [
      [`answers ${code}`, answer(code, '{}')],
      [`sends an error event of ${code}`, answer(200, error(code))],
    ]),
    ['sends an error event of no kind', answer(200, line({ type: 'ERROR', object: {} }))],
    ['ends the answer before anything', answer(200, '')],
    ['cuts the answer off in its first line', resetAfter(1)],
    ['ends the answer behind a bookmark that tells no end', answer(200, news('7'))],
    ['says nothing in its answer', hang(''), {}, () => 0],
    ['hangs behind a bookmark that tells no end', hang(news('7')), {}, () => 1],
    ['hangs behind the Secret', withoutEnd, {}, (secret) => (secret === undefined ? 0 : 1)],
    ['answers in HTML', answer(200, '<html>\n')],
    ['answers in another encoding', answer(200, 'x', { 'content-encoding': 'gzip' })],
    ['answers with events of another kind', answer(200, line({ type: 'ADDED', object: {} }))],
  ])('a server that cannot begin a watch with the Secret, and %s', (...row) => {
    const [, fault, options, partsOf] = row;
    const isInitial = ({ query }: ApiRequest) => query.has('sendInitialEvents');
    const follow = async (secret?: string) => {
      const server = await serve(options);
      if (secret !== undefined) server.create({ plan: secret });
      server.fault(fault, { when: isInitial });
      const clock = new LeapingClock();
      const timers = partsOf && silentAfter(partsOf(secret));
      return { server, clock, watch: watching(storeOf(server, { clock, ...timers })) };
    };

    it('lists it at once, and watches from there', async () => {
      const { server, clock, watch } = await follow('first');
      await server.nextRequest(({ query }) => query.has('resourceVersion'));
      await watch.connected();
      server.update({ plan: 'second' });
      expect(await watch.reports(2)).toEqual(['first', 'second']);
      expect(server.requests.map(({ query }) => query.get('watch') ?? 'list')).toEqual([
        'true',
        'list',
        'true',
      ]);
      expect([watch.failures(), clock.waits]).toEqual([[], []]);
      // The store completes a listed item, so that it can be written back.
      expect(watch.secrets.at(-1)?.object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
    });

    it('lists that there is none', async () => {
      const { watch } = await follow();
      expect(await watch.reports(1)).toEqual(['none']);
    });
  });

  it.each([401, 403])('does not list for a watch that is refused by %i', async (code) => {
    const server = await serve();
    for (const fault of [answer(code, '{}'), answer(200, error(code))]) {
      server.fault(fault, { times: 3 });
      const watch = watching(storeOf(server));
      await watch.connected();
      expect(watch.failures()).toHaveLength(3);
      await watch.stop();
    }
    expect(server.requests.filter((request) => !isWatch(request))).toEqual([]);
  });

  it('begins with a watch again where the list fails: the account may watch alone', async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    server.fault((request, response, next) => {
      if (!isWatch(request)) answer(403, '{}')(request, response, next);
      else if (server.requests.length === 1) answer(500, '{}')(request, response, next);
      else next();
    });
    const watch = watching(storeOf(server));
    expect(await watch.reports(1)).toEqual(['first']);
    expect(watch.failures()).toEqual(['forbidden']);
  });

  it('gives the first read its time as a whole, however it trickles', async () => {
    const server = await serve();
    server.fault(
      (_request, response) => {
        response.writeHead(200);
        const trickle = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(trickle));
      },
      { times: 1 },
    );
    const watch = watching(storeOf(server, { answerMs: 300 }));
    expect(await watch.reports(1)).toEqual(['none']);
  });

  it.each([
    [0, [500, 38_000, 38_000]],
    [0.5, [18_250, 40_500, 40_500]],
    [0.999, [35_965, 42_995, 42_995]],
  ])(
    'asks again within 36 s, and then after 38 to 43 s, as chance %p has it',
    async (chance, waits) => {
      const clock = new LeapingClock();
      const server = await serve();
      const watch = watching(storeOf(server, { clock, random: () => chance }));
      await watch.connected();
      await server.down();
      await watch.until(() => watch.states.length > 4);
      await watch.stop();
      expect(clock.waits.slice(0, 3)).toEqual(waits);
      const [, first] = watch.states;
      expect(first).toMatchObject({ retryAt: new Date(AT_START.getTime() + (waits[0] ?? 0)) });
    },
  );

  it('asks for a server that it never reached after 1, 2, 4 … s, because a network may come up after the daemon', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    await server.down();
    const watch = watching(storeOf(server, { clock }));
    await watch.until(() => watch.states.length > 7);
    await watch.stop();
    expect(clock.waits.slice(0, 7)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 38_000]);
  });

  it('begins a new series of failures only after a watch that lived for half a minute', async () => {
    const timers = new SimulatedTime();
    const clock = new LeapingClock();
    const server = await serve();
    const watch = watching(
      storeOf(server, { clock, startTimer: timers.startTimer, random: () => 0.5 }),
    );
    for (const livedMs of [29_990, 29_990, 30_000, 29_990]) {
      await watch.connected();
      const again = server.nextRequest(isWatch);
      await timers.run(livedMs);
      server.endWatches();
      await again;
    }
    expect(clock.waits).toEqual([18_250, 40_500, 18_250, 40_500]);
  });

  it('waits as long as the server asks', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    const busy = answer(429, '{}', { 'retry-after': '17' });
    server.fault(busy, { times: 1 });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    expect(clock.waits).toEqual([17_000]);
  });

  it('does not let the server make it wait for days', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    server.fault(answer(503, '', { 'retry-after': '99999999' }), { times: 1 });
    const watch = watching(storeOf(server, { clock }));
    await watch.connected();
    expect(clock.waits).toEqual([300_000]);
  });

  it('does not ask without a pause when the server ends each watch', async () => {
    const clock = new LeapingClock();
    const server = await serve();
    server.fault(answer(200, ''), { times: 5, when: isWatch });
    const timers = new SimulatedTime();
    const watch = watching(storeOf(server, { clock, startTimer: timers.startTimer }));
    const alive = server.nextRequest(
      ({ query }) => query.has('resourceVersion') && clock.waits.length === 4,
    );
    await watch.until(() => watch.failures().length === 4);
    await alive;
    // The first failure adds no wait: a list request follows at once.
    expect(clock.waits).toEqual([500, 38_000, 38_000, 38_000]);
  });

  it('ends at once when it is aborted while it waits for the server', async () => {
    const server = await serve();
    server.fault(silent);
    const request = server.nextRequest();
    const watch = watching(storeOf(server));
    await request;
    await watch.stop();
    expect(watch.states).toEqual([]);
  });
});

describe('a watch on which nothing arrives', () => {
  const setUp = async () => {
    const server = await serve();
    server.create({ plan: 'first' });
    const between = await startForgetfulBox(server.url);
    stops.push(() => between.close());
    const timers = new SimulatedTime();
    const options = { startTimer: timers.startTimer };
    const watch = watching(storeOf(server, options, { server: between.url }));
    await watch.connected();
    return { server, between, watch, timers };
  };

  it('is made anew when something on the way has forgotten it, and tells what came meanwhile', async () => {
    const { server, between, watch, timers } = await setUp();
    between.forget('open');
    server.update({ plan: 'second' });
    await timers.run(QUIET_MS);
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(watch.failures()).toEqual([]);
  });

  it('tells also that the Secret is gone, or another one', async () => {
    const { server, between, watch, timers } = await setUp();
    between.forget('open');
    server.remove();
    await timers.run(QUIET_MS);
    expect(await watch.reports(2)).toEqual(['first', 'none']);
    between.forget('open');
    server.create({ plan: 'third' });
    await timers.run(QUIET_MS);
    expect(await watch.reports(3)).toEqual(['first', 'none', 'third']);
  });

  it('ends when the API server does not answer any more', async () => {
    const { between, watch, timers } = await setUp();
    between.forget('all');
    await timers.run(QUIET_MS);
    // The next connection has 10 s for its answer, from the moment at which it begins.
    while (watch.failures().length === 0) await timers.run(10_000);
    expect(watch.failures()[0]).toBe('unreachable');
  });

  it('ends when the token has ended, which the server does not tell a watch', async () => {
    const { server, watch, timers } = await setUp();
    server.rotateToken();
    await timers.run(QUIET_MS);
    await watch.until(() => watch.failures().length > 0);
    expect(watch.failures()[0]).toBe('unauthorized');
  });

  it('goes on where nothing has changed', async () => {
    const { server, watch, timers } = await setUp();
    const again = server.nextRequest(isWatch);
    await timers.run(QUIET_MS);
    await again;
    server.update({ plan: 'second' });
    expect(await watch.reports(2)).toEqual(['first', 'second']);
    expect(watch.states).toEqual([{ kind: 'connected' }]);
  });
});
