/** Name of the Windows service and of its event source. */
export const SERVICE_NAME = 'rancher-wins';
/** Default name of the API pipe. */
export const DEFAULT_PIPE_NAME = 'rancher_wins';
/** Default name of the tunnel pipe. */
export const DEFAULT_PROXY_PIPE_NAME = 'rancher_wins_proxy';
/** Header (in lower case) in which a tunnel client names itself. The daemon answers 401 without it. */
export const TUNNEL_CLIENT_HEADER = 'rancher-wins-cli-proxy';

/** Header (in lower case) with the `networkIdentity` of a tunnel client; a daemon in the same network answers it with `same`. */
export const TUNNEL_NETWORK_HEADER = 'rancher-wins-network';

/** The environment variable that marks every process of a run. Only the daemon sets it; no client may set or clear it. */
export const RUN_MARKER_VARIABLE = 'RANCHER_WINS_RUN';

/** Environment variable with the service name of the daemon that started the run. Only the daemon sets it. */
export const RUN_SERVICE_VARIABLE = 'RANCHER_WINS_SERVICE';

/** Environment variable with the socket folder of the daemon that started the run, if pipes are files. Only the daemon sets it. */
export const RUN_RUNTIME_DIR_VARIABLE = 'RANCHER_WINS_RUNTIME_DIR';

/** Config keys whose loss would silently disable part of a node. A new config may lack one only if the operator names it in `--allow-drop`. */
export const GUARDED_KEYS = [
  'systemagent',
  'csi-proxy',
  'white_list',
  'hostNetwork',
  'keep',
] as const;

/** One of {@link GUARDED_KEYS}, as the config file spells it. */
export type GuardedKey = (typeof GUARDED_KEYS)[number];

/** Returns the administrators' pipe that goes with a daemon's main pipe (a name or a path): `rancher_wins_admin` for `rancher_wins`. */
export function adminPipeOf(listen: string): string {
  return `${listen}_admin`;
}

/** Longer than the daemon's own limit for stopping its runs. */
const PRESHUTDOWN_TIMEOUT_MS = 45_000;

/** Properties of the daemon's service apart from its name, program and start type; the same for every registration. */
export const DAEMON_SERVICE = {
  displayName: 'Rancher Wins',
  description:
    'Lets containers on this node run the host programs that its configuration lists, and reach the listed ports.',
  dependencies: [] as readonly string[],
  failurePolicy: { restartDelaysMs: [5000, 10_000, 15_000], resetAfterSeconds: 600 },
  preshutdownTimeoutMs: PRESHUTDOWN_TIMEOUT_MS,
} as const;
