/** Longer than the daemon takes to end what it runs, with its own limit. */
const PRESHUTDOWN_TIMEOUT_MS = 45_000;

/** What the service of the daemon has beside its name, its program and its start, whoever registers it. */
export const DAEMON_SERVICE = {
  displayName: 'Rancher Wins',
  description:
    'Lets containers on this node run the host programs that its configuration lists, and reach the listed ports.',
  dependencies: [] as readonly string[],
  failurePolicy: { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: PRESHUTDOWN_TIMEOUT_MS,
} as const;
