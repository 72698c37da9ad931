/** Name of the Windows service and of its event source. */
export const SERVICE_NAME = 'rancher-wins';
/** Default name of the API pipe. */
export const DEFAULT_PIPE_NAME = 'rancher_wins';
/** Default name of the tunnel pipe. */
export const DEFAULT_PROXY_PIPE_NAME = 'rancher_wins_proxy';
/** Header (in lower case) with the name of a tunnel client. Without it the daemon answers 401. */
export const TUNNEL_CLIENT_HEADER = 'rancher-wins-cli-proxy';

/** Header (in lower case) with the client's `networkIdentity`. A daemon in the same network answers with `same`. */
export const TUNNEL_NETWORK_HEADER = 'rancher-wins-network';

/** Marks every process of a run. Only the daemon sets it; no client may set or clear it. */
export const RUN_MARKER_VARIABLE = 'RANCHER_WINS_RUN';

/** Service name of the daemon that started the run. Only the daemon sets it. */
export const RUN_SERVICE_VARIABLE = 'RANCHER_WINS_SERVICE';

/** Socket folder of the daemon that started the run, on systems where pipes are sockets. Only the daemon sets it. */
export const RUN_RUNTIME_DIR_VARIABLE = 'RANCHER_WINS_RUNTIME_DIR';

/** Returns the pipe of administrators for a daemon's main pipe: `rancher_wins_admin` for `rancher_wins`. */
export function adminPipeOf(listen: string): string {
  return `${listen}_admin`;
}

/** Longer than the daemon's time limit for stopping its runs. */
const PRESHUTDOWN_TIMEOUT_MS = 45_000;

/** Properties of the daemon's service that are the same for every registration. */
export const DAEMON_SERVICE = {
  displayName: 'Rancher Wins',
  description:
    'Lets containers on this node run the host programs that its configuration lists, and reach the listed ports.',
  dependencies: [] as readonly string[],
  failurePolicy: { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: PRESHUTDOWN_TIMEOUT_MS,
} as const;
