import { FakeClock } from '@wins/base/testing';
import { AgentError, type AgentErrorCode } from '../agent-error.js';
import type { Secret, SecretStore, WatchState } from '../ports.js';
import { connectingStore } from './connecting-store.js';
import type { ConnectionInfo } from '@wins/net';

const SECRET: Secret = { uid: 'u', resourceVersion: '7', data: {}, object: {} };
/** The tested store never reads the info. */
const info = (token: string) => ({ token }) as unknown as ConnectionInfo;

/** Stand-in for the store of one connection. A test calls `refuse` during a watch to simulate that the API server answers 401. */
class StandInStore implements SecretStore {
  refuse: () => void = () => undefined;
  readonly lastContactMs: number | undefined;
  readonly #answer: () => Promise<Secret>;
  readonly #watched: () => void;

  constructor(
    lastContactMs: number | undefined,
    answer: () => Promise<Secret>,
    watched: () => void,
  ) {
    this.lastContactMs = lastContactMs;
    this.#answer = answer;
    this.#watched = watched;
  }

  async watch(
    onSecret: (secret: Secret) => void,
    onState: (state: WatchState) => void,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    onState({ kind: 'connected' });
    onSecret(SECRET);
    this.refuse = () => onState({ kind: 'waiting', error: new Error('401'), retryAt: new Date(0) });
    this.#watched();
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  read = () => this.#answer();
  write = () => this.#answer();
}

function setUp(first: ConnectionInfo | Error) {
  const clock = new FakeClock();
  const end = new AbortController();
  const states: WatchState[] = [];
  const used: ConnectionInfo[] = [];
  const watchers: (() => void)[] = [];
  const file: { content: ConnectionInfo | Error; until?: Promise<void> | undefined } = {
    content: first,
  };
  const server: { refusal?: AgentErrorCode | undefined; asked: ConnectionInfo[] } = { asked: [] };
  let store: StandInStore | undefined;
  const secrets = connectingStore({
    clock,
    readInfo: async () => {
      const { content, until } = file;
      await until;
      if (content instanceof Error) throw content;
      return content;
    },
    storeOf: (given) => {
      used.push(given);
      const contact = used.length === 1 ? 7000 : undefined;
      const answer = () => {
        server.asked.push(given);
        return server.refusal !== undefined && given === used[0]
          ? Promise.reject(new AgentError(server.refusal, 'no'))
          : Promise.resolve(SECRET);
      };
      return (store = new StandInStore(contact, answer, () => watchers.shift()?.()));
    },
  });
  return {
    clock,
    states,
    used,
    file,
    server,
    secrets,
    refuse: () => store?.refuse(),
    nextWatch: () => new Promise<void>((resolve) => watchers.push(resolve)),
    watch: () =>
      secrets.watch(
        () => undefined,
        (state) => states.push(state),
        { signal: end.signal },
      ),
    end: () => end.abort(),
  };
}

describe('a store whose connection info is in a file', () => {
  it('waits for a file that is not there, ever longer, and says so', async () => {
    const { clock, states, file, watch, nextWatch, end } = setUp(new Error('no such file'));
    const watching = watch();
    for (const longestMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      await clock.waiting();
      const [waitMs = 0] = clock.waits;
      expect(waitMs).toBeGreaterThanOrEqual(longestMs / 2);
      expect(waitMs).toBeLessThanOrEqual(longestMs);
      const retryAt = new Date(clock.now().getTime() + waitMs);
      const error = new Error('no such file');
      expect(states.at(-1)).toEqual({ kind: 'waiting', error, retryAt });
      if (states.length === 8) file.content = info('a');
      clock.advance(waitMs);
    }
    await nextWatch();
    expect(states.at(-1)).toEqual({ kind: 'connected' });
    end();
    await watching;
  });

  it('does not look for it at the same moments as other nodes', async () => {
    const nodes = Array.from({ length: 8 }, () => setUp(new Error('no such file')));
    const watching = nodes.map(({ watch }) => watch());
    await Promise.all(nodes.map(({ clock }) => clock.waiting()));
    expect(new Set(nodes.flatMap(({ clock }) => clock.waits)).size).toBeGreaterThan(1);
    for (const { end } of nodes) end();
    await Promise.all(watching);
  });

  it('reads it again when the API server refuses, and goes on with what is new in it', async () => {
    const { used, file, watch, nextWatch, refuse, secrets, end } = setUp(info('old'));
    const watched = nextWatch();
    const watching = watch();
    await watched;
    const again = nextWatch();
    file.content = info('new');
    refuse();
    await again;
    expect(used).toEqual([info('old'), info('new')]);
    // The new store has no answer yet, so the time of the old store counts.
    expect(secrets.lastContactMs).toBe(7000);
    end();
    await watching;
  });

  const asking: [string, (secrets: SecretStore) => Promise<unknown>][] = [
    ['read', (secrets) => secrets.read({ signal: new AbortController().signal })],
    ['write', (secrets) => secrets.write(SECRET, {}, { signal: new AbortController().signal })],
  ];
  const codes: AgentErrorCode[] = ['unauthorized', 'forbidden', 'unreachable', 'refused'];
  const refused = asking.flatMap(([title, ask]) =>
    codes.map((code) => [title, code, ask] as const),
  );

  it.each(refused)(
    'reads it again when a %s is answered with %s, asks once more, and makes the watch that goes on anew',
    async (_title, code, ask) => {
      const { used, file, server, watch, nextWatch, secrets, end } = setUp(info('old'));
      const watched = nextWatch();
      const watching = watch();
      await watched;
      const again = nextWatch();
      file.content = info('new');
      server.refusal = code;
      expect(await ask(secrets)).toBe(SECRET);
      await again;
      expect(server.asked).toEqual([info('old'), info('new')]);
      expect(used).toEqual([info('old'), info('new')]);
      end();
      await watching;
    },
  );

  it.each(asking)(
    'a %s that is refused says so while the file is the same',
    async (_title, ask) => {
      const { file, server, secrets } = setUp(info('old'));
      server.refusal = 'unauthorized';
      await expect(ask(secrets)).rejects.toMatchObject({ code: 'unauthorized' });
      file.content = new Error('being written');
      await expect(ask(secrets)).rejects.toMatchObject({ code: 'unauthorized' });
      expect(server.asked).toEqual([info('old'), info('old')]);
      file.content = info('new');
      expect(await ask(secrets)).toBe(SECRET);
    },
  );

  it('knows when the API server last answered once there is a connection', async () => {
    const { secrets } = setUp(info('a'));
    expect(secrets.lastContactMs).toBeUndefined();
    await secrets.read({ signal: new AbortController().signal });
    expect(secrets.lastContactMs).toBe(7000);
  });

  it('makes one connection for all that ask before there is one', async () => {
    const { used, secrets, watch, nextWatch, end } = setUp(info('a'));
    const watched = nextWatch();
    const watching = watch();
    await Promise.all([secrets.read({ signal: new AbortController().signal }), watched]);
    expect(used).toEqual([info('a')]);
    end();
    await watching;
  });

  it('keeps a new connection when a refusal of the one before it is looked at late', async () => {
    const { used, file, watch, nextWatch, refuse, secrets, end } = setUp(info('old'));
    const watched = nextWatch();
    const watching = watch();
    await watched;
    const again = nextWatch();
    file.content = info('new');
    let readOn = (): void => undefined;
    file.until = new Promise((resolve) => (readOn = resolve));
    refuse();
    file.until = undefined;
    refuse();
    await again;
    readOn();
    await new Promise(setImmediate);
    await secrets.read({ signal: new AbortController().signal });
    expect(used).toEqual([info('old'), info('new')]);
    end();
    await watching;
  });

  it('keeps the previous info while the file has not changed or cannot be read', async () => {
    const { used, file, watch, nextWatch, refuse, secrets, end } = setUp(info('old'));
    const watched = nextWatch();
    const watching = watch();
    await watched;
    refuse();
    file.content = new Error('being written');
    refuse();
    expect(await secrets.read({ signal: new AbortController().signal })).toBe(SECRET);
    expect(used).toEqual([info('old')]);
    end();
    await watching;
  });
});
