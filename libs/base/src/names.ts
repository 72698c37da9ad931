/** The name of the Windows service, and of the source of its events. */
export const SERVICE_NAME = 'rancher-wins';

/** The default name of the pipe of the API. */
export const DEFAULT_PIPE_NAME = 'rancher_wins';

/** The default name of the pipe of the tunnel. */
export const DEFAULT_PROXY_PIPE_NAME = 'rancher_wins_proxy';

/** The header in which a client of the tunnel names itself, in lower case. A daemon answers 401 without it. */
export const TUNNEL_CLIENT_HEADER = 'rancher-wins-cli-proxy';

/**
 * The header in which a client of the tunnel names its network (`networkIdentity`), in lower case. A daemon of the same network
 * answers `same` in a header of that name, and another nothing.
 */
export const TUNNEL_NETWORK_HEADER = 'rancher-wins-network';

/** The environment variable that marks every process of a run. Only the daemon sets it; no client may set or clear it. */
export const RUN_MARKER_VARIABLE = 'RANCHER_WINS_RUN';

/** The environment variable that tells a run the service its daemon is. Only the daemon sets it. */
export const RUN_SERVICE_VARIABLE = 'RANCHER_WINS_SERVICE';

/** The environment variable that tells a run the folder of its daemon's sockets, where pipes are files. Only the daemon sets it. */
export const RUN_RUNTIME_DIR_VARIABLE = 'RANCHER_WINS_RUNTIME_DIR';

/**
 * The keys of a config whose loss takes something away from a node that nothing else on the node would notice: its plans, its csi-proxy,
 * its routes, its programs, or all that clients may use. They are dropped when someone says so by name, and never by the way.
 */
export const GUARDED_KEYS = [
  'systemagent',
  'csi-proxy',
  'white_list',
  'hostNetwork',
  'keep',
] as const;

/** One of {@link GUARDED_KEYS}, as the config file spells it. */
export type GuardedKey = (typeof GUARDED_KEYS)[number];

/**
 * The name of the pipe of administrators of the daemon with this pipe: `rancher_wins_admin` for `rancher_wins`. Both have the same form, a
 * bare name or a path. No other pipe of the daemon may have it.
 */
export function adminPipeOf(listen: string): string {
  return `${listen}_admin`;
}

/** Longer than the daemon takes to end what it runs, with its own limit. */
const PRESHUTDOWN_TIMEOUT_MS = 45_000;

/** Properties of the daemon's service beside its name, program and start, the same for every registration. */
export const DAEMON_SERVICE = {
  displayName: 'Rancher Wins',
  description:
    'Lets containers on this node run the host programs that its configuration lists, and reach the listed ports.',
  dependencies: [] as readonly string[],
  failurePolicy: { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: PRESHUTDOWN_TIMEOUT_MS,
} as const;
