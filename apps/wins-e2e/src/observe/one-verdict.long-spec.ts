import { hasOwnLinux, runInOwnLinux } from '../testing/own-linux.js';
import { wherePossible } from '../testing/where-possible.js';
import { parseScrape } from '../testing/scrape.js';
import { WINS, Workspace } from '../testing/workspace.js';

const DAY_S = 86_400;
const SERIES = 'wins_conditions{feature="detached",level="problem"}';
/** A question of gRPC for the health of `wins.Runs`. */
const HEALTH_QUESTION = String.raw`\000\000\000\000\013\n\011wins.Runs`;
/** The answer NOT_SERVING. */
const NOT_SERVING = '00 00 00 00 02 08 02';

type Facts = Readonly<Record<string, unknown>>;

const inOwnLinux = wherePossible(
  describe,
  hasOwnLinux(),
  'a clock that jumps, since user-mode-linux is not installed',
);

inOwnLinux('a clock that is set forward by 3 days, and then back by 8', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());
  let said: Readonly<Record<string, string>>;
  const TIMES = ['before', 'forward', 'back'] as const;

  beforeAll(async () => {
    const fails = workspace.script('fails', 'exit 3');
    const stays = workspace.script('stays', 'while :; do sleep 1; done');
    const config = workspace.config([fails], {
      metrics: { listen: '127.0.0.1:9797' },
      keep: [
        { path: fails, name: 'own', restart: { policy: 'on-failure:1', delayMs: 1 } },
        { path: stays, name: 'stays' },
      ],
    });
    const output = await runInOwnLinux(
      workspace,
      `export WINS_RUNTIME_DIR=/run/wins
wins() { '${process.execPath}' '${WINS}' "$@"; }
say() { echo "== $1"; shift; "$@"; echo "code $?"; }
health() {
  printf '${HEALTH_QUESTION}' | curl -s --http2-prior-knowledge --unix-socket /run/wins/rancher_wins \
    -H 'content-type: application/grpc' -H 'te: trailers' --data-binary @- http://x/grpc.health.v1.Health/Check | od -An -tx1
}
ask() {
  say "status $1" wins status --config '${config}' -o json
  say "doctor $1" wins doctor --config '${config}' -o json
  say "metrics $1" wins srv metrics --config '${config}'
  say "health $1" health
  say "ls $1" wins cli prc ls --detached -o json
}
jumped() { wins srv events --config '${config}' -o json | grep -c clockJumped; }
set_clock() {
  date -s "@$(($(date +%s) + $1))" > /dev/null
  until [ "$(jumped)" = "$2" ]; do sleep 0.1; done
}
ip link set lo up
wins srv app run --config '${config}' 2> /run/log &
until wins cli app info > /dev/null 2>&1; do sleep 0.1; done
wins cli prc wait keep:own
until wins srv metrics --config '${config}' | grep -qF '${SERIES} 1'; do sleep 0.1; done
ask before
set_clock ${3 * DAY_S} 1
ask forward
set_clock ${-8 * DAY_S} 2
ask back
say events wins srv events --config '${config}' -o json
say audit wins srv audit verify --config '${config}'`,
    );
    said = Object.fromEntries(
      output
        .split(/^== /m)
        .slice(1)
        .map((part) => {
          const [name = '', ...lines] = part.trimEnd().split('\n');
          return [name, lines.join('\n')];
        }),
    );
  });

  function answerOf(name: string): { readonly code: string; readonly text: string } {
    const [, text = '', code = ''] = /^([^]*)\ncode (\d+)$/.exec(`\n${said[name] ?? ''}`) ?? [];
    return { code, text };
  }

  /** The conditions that are not `ok`, with their beginnings. */
  function verdictOf(name: string): readonly Facts[] {
    const { findings } = JSON.parse(answerOf(name).text) as { findings: readonly Facts[] };
    return findings
      .filter(({ level }) => level !== 'ok')
      .map(({ level, code, since }) => ({ level, code, since }));
  }

  it.each(TIMES)('changes no condition for status, doctor, metrics and health: %s', (time) => {
    const [first] = verdictOf('status before');
    expect(first).toMatchObject({ level: 'problem', code: 'runGaveUp' });
    expect(verdictOf(`status ${time}`)).toEqual([first]);
    expect(verdictOf(`doctor ${time}`)).toEqual([first]);
    expect([answerOf(`status ${time}`).code, answerOf(`doctor ${time}`).code]).toEqual(['2', '2']);
    expect(parseScrape(answerOf(`metrics ${time}`).text).get(SERIES)).toBe(1);
    expect(answerOf(`health ${time}`).text.trim()).toBe(NOT_SERVING);
  });

  it('restarts no run', () => {
    const [before, ...later] = TIMES.map((time) => {
      const runs = JSON.parse(answerOf(`ls ${time}`).text) as readonly Facts[];
      return runs.map(({ name, pid, restarts, state }) => ({ name, pid, restarts, state }));
    });
    expect(before).toHaveLength(2);
    expect(later).toEqual([before, before]);
  });

  it('is two events that explain the times, beside the one of the condition', () => {
    const events = answerOf('events')
      .text.split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Facts);
    const days = events
      .filter(({ type }) => type === 'clockJumped')
      .map(({ byMs }) => Math.round(Number(byMs) / 1000 / DAY_S));
    expect(days).toEqual([3, -8]);
    const conditions = events.filter(({ type }) => String(type).startsWith('condition'));
    expect(conditions).toMatchObject([
      { type: 'conditionBegan', code: 'runGaveUp', about: 'keep:own' },
    ]);
  });

  it('leaves the audit log whole', () => {
    expect(answerOf('audit').code).toBe('0');
  });
});
