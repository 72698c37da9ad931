// Counts the requests of agents to an API server. Time and server are simulated, so each number is exact and needs one round.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const AGENTS = 1000;

const FORBIDDEN = /** @type {const} */ ({ kind: 'refused', status: 403 });

const VERBS = { GET: ['get', 'list'], WATCH: ['watch'] };
const IDLE = /** @type {const} */ ({ 'the Secret': 'secret', 'the nodes': 'nodes' });
const idleRow = (what, verb) => `requests for ${what}, idle, ${verb}`;

/** At most so many lists in the first minute and in the second. */
const MOST_LISTS = { '1st minute': 4, '2nd minute': 2 };
const BROKEN = /** @type {const} */ ({
  'is forbidden': FORBIDDEN,
  'ends at once': { kind: 'endsAtOnce' },
  'is reset': { kind: 'reset' },
});
const listRow = (what, minute) => `requests for the nodes, watch ${what}, lists in the ${minute}`;

const FLEET = {
  idle: (fleet) => fleet.idle(HOUR_MS),
  'server restarts': (fleet) => fleet.loseServer(5000),
  'server away 10 min': (fleet) => fleet.loseServer(10 * MINUTE_MS),
  'restored cluster': (fleet) => fleet.restoreBackup(),
  'watch refused, 403': (fleet) => fleet.breakWatches(FORBIDDEN),
  'watch refused, 429 for 30 s': (fleet) =>
    fleet.breakWatches({ kind: 'refused', status: 429, retryAfterS: 30 }),
  'watch refused, 500': (fleet) => fleet.breakWatches({ kind: 'refused', status: 500 }),
};
const fleetRow = (what, of) => `fleet of 1,000, ${what}, ${of}`;
const BUSIEST = 'busiest second';
const RATE = 'requests';
const WAIT = 'longest wait';

export const requestRows = [
  ...Object.keys(IDLE).flatMap((what) => Object.keys(VERBS).map((verb) => idleRow(what, verb))),
  ...Object.keys(BROKEN).flatMap((what) =>
    Object.keys(MOST_LISTS).map((minute) => listRow(what, minute)),
  ),
  ...Object.keys(FLEET).flatMap((what) =>
    [BUSIEST, RATE, ...(what === 'idle' ? [] : [WAIT])].map((of) => fleetRow(what, of)),
  ),
];

export async function measureRequests({ run }) {
  // Imported here, because the library must be built first.
  const { SimulatedFleet, SimulatedFollower } = await import('@wins/system-agent/testing');
  const add = (name, unit, value, atMost) =>
    run.addOnce({ name, unit, figure: { is: 'value', atMost } }, { wins: value });

  for (const [what, kind] of Object.entries(IDLE)) {
    const follower = new SimulatedFollower(kind);
    follower.start(0.5);
    await follower.time.run(MINUTE_MS);
    const { requests } = follower.api;
    requests.splice(0);
    await follower.time.run(HOUR_MS);
    for (const [verb, verbs] of Object.entries(VERBS))
      add(
        idleRow(what, verb),
        'an hour',
        requests.filter((request) => verbs.includes(request.verb)).length,
      );
    await follower.close();
  }

  for (const [what, fault] of Object.entries(BROKEN)) {
    const follower = new SimulatedFollower('nodes');
    follower.api.faultOf = ({ verb }) => (verb === 'watch' ? fault : undefined);
    // The shortest waits.
    follower.start(0);
    await follower.time.run(2 * MINUTE_MS);
    for (const [index, [minute, atMost]] of Object.entries(MOST_LISTS).entries())
      add(listRow(what, minute), 'lists', follower.lists(index * MINUTE_MS), atMost);
    await follower.close();
  }

  for (const [what, play] of Object.entries(FLEET)) {
    if (![BUSIEST, RATE, WAIT].some((of) => run.wants(fleetRow(what, of)))) continue;
    const fleet = await SimulatedFleet.start(AGENTS);
    const { busiestSecond, requestsPerS, longestWaitMs } = await play(fleet);
    await fleet.close();
    add(fleetRow(what, BUSIEST), 'agents', busiestSecond, 0.05 * AGENTS);
    add(fleetRow(what, RATE), 'a second', requestsPerS);
    if (longestWaitMs !== undefined)
      add(fleetRow(what, WAIT), 's', longestWaitMs / 1000, longestWaitOf(what));
  }
}

/** A connection that follows a refused one counts as connected after half a minute. */
function longestWaitOf(what) {
  return what.startsWith('watch') ? 90 : 60;
}
