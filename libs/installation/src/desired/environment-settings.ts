import type { Optional } from '@wins/base';
import type { ConfigChanges } from './config-changes.js';
import { installPaths, type InstallPaths, judgePaths } from './install-paths.js';
import { NODE_ID, Variables } from './read-variables.js';
import type { Secret } from './secret.js';

const PARAMETERS: Readonly<Record<keyof InstallParameters, string>> = {
  server: 'CATTLE_SERVER',
  token: 'CATTLE_TOKEN',
  'ca-checksum': 'CATTLE_CA_CHECKSUM',
  worker: 'CATTLE_ROLE_WORKER',
  label: 'CATTLE_LABELS',
  taint: 'CATTLE_TAINTS',
  'node-name': 'CATTLE_NODE_NAME',
  address: 'CATTLE_ADDRESS',
  'internal-address': 'CATTLE_INTERNAL_ADDRESS',
  'strict-tls-verification': 'STRICT_VERIFY',
  'delayed-start': 'CATTLE_ENABLE_WINS_DELAYED_START',
};
const ADDED: ReadonlySet<string> = new Set(['CATTLE_LABELS', 'CATTLE_TAINTS']);

/** Each parameter overrides its variable, but `label` and `taint` append to theirs. False and empty values are ignored. */
export type InstallParameters = Readonly<
  Optional<
    Record<
      | ('server' | 'token' | 'ca-checksum' | 'worker' | 'label' | 'taint' | 'node-name')
      | ('address' | 'internal-address' | 'strict-tls-verification' | 'delayed-start'),
      string | readonly string[] | boolean | undefined
    >
  >
>;

/** Settings of `wins install`, from the `CATTLE_` variables and the parameters. Undefined leaves a setting unchanged. */
export interface EnvironmentSettings extends ServerSettings {
  readonly mode: 'remote' | 'local';
  readonly isWorker: boolean;
  /** `k=v` */
  readonly labels: readonly string[];
  /** `k=v:Effect` */
  readonly taints: readonly string[];
  readonly nodeName: string | undefined;
  /** An address, the name of an adapter, or a keyword for an address that a cloud provides. */
  readonly address: string | undefined;
  readonly internalAddress: string | undefined;
  readonly nodeId: string | undefined;
  readonly isDelayedStart: boolean | undefined;
  readonly preservesWorkDirectory: boolean;
  readonly programSha256: string | undefined;
  /** Changes of sections of the config that only some nodes have. */
  readonly sections: ConfigChanges;
  readonly paths: InstallPaths;
}

/** The Rancher server, and how to trust and reach it. Undefined leaves a setting unchanged. */
export interface ServerSettings {
  readonly server: string | undefined;
  readonly token: Secret | undefined;
  /** Lower-case SHA-256 of the CA certificates as the server sends them. */
  readonly caChecksum: string | undefined;
  readonly isStrictTls: boolean | undefined;
  /** Proxy settings by variable name. A null value stands for an empty variable and removes the setting. */
  readonly proxies: ProxySettings;
}

/** Values of the proxy variables, by name. Null removes a variable. */
export type ProxySettings = Readonly<Record<string, Secret | null>>;

export const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

/**
 * Reads variables and parameters as Rancher's installer does, with two differences. It writes nothing back to the
 * environment, and it reads no proxy variables except those in `PROXY_VARIABLES`. Like that installer, it ignores
 * `CATTLE_ROLE_NONE` and all roles except worker.
 * @throws InstallError `usage`; the message names the variable.
 */
export function settingsFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  parameters: InstallParameters = {},
  platform: NodeJS.Platform = process.platform,
): EnvironmentSettings {
  const variables = withParameters(environment, parameters);
  const asked = readServer(variables);
  const mode = readMode(variables);
  if (mode === 'remote' && (asked.server === undefined || asked.token === undefined)) {
    const wanted = 'one for a node that joins a server, or CATTLE_REMOTE_ENABLED=false';
    const missing = asked.server === undefined ? 'CATTLE_SERVER' : 'CATTLE_TOKEN';
    throw variables.refuse(missing, 'no value', wanted);
  }
  const name = /^[A-Za-z0-9][-A-Za-z0-9.]{0,252}$/;
  const id = 'at most 63 letters, digits, "-", "_" and "."';
  return {
    mode,
    ...asked,
    isWorker: variables.flag('CATTLE_ROLE_WORKER') ?? false,
    labels: variables.words('CATTLE_LABELS'),
    taints: variables.words('CATTLE_TAINTS'),
    nodeName: variables.word('CATTLE_NODE_NAME', name, 'a host name'),
    address: variables.text('CATTLE_ADDRESS', 256),
    internalAddress: variables.text('CATTLE_INTERNAL_ADDRESS', 256),
    nodeId: variables.word('CATTLE_ID', NODE_ID, id),
    isDelayedStart: variables.flag('CATTLE_ENABLE_WINS_DELAYED_START'),
    preservesWorkDirectory: variables.flag('CATTLE_PRESERVE_WORKDIR') ?? false,
    programSha256: variables.sha256('CATTLE_AGENT_BINARY_CHECKSUM'),
    sections: readCsiProxy(variables),
    paths: readPaths(variables, platform),
  };
}

/** @throws InstallError `usage`. */
export const readServer = (variables: Variables): ServerSettings => ({
  server: variables.url('CATTLE_SERVER'),
  token: variables.secret('CATTLE_TOKEN'),
  caChecksum: variables.sha256('CATTLE_CA_CHECKSUM'),
  isStrictTls: variables.flag('STRICT_VERIFY'),
  proxies: readProxies(variables),
});

function readProxies(variables: Variables): ProxySettings {
  const found = PROXY_VARIABLES.flatMap((name): (readonly [string, Secret | null])[] => {
    const value = variables.isEmpty(name) ? null : variables.secret(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

/** @throws InstallError `usage`. */
export function readPaths(variables: Variables, platform: NodeJS.Platform): InstallPaths {
  const paths = installPaths(platform, {
    configFolder: variables.path('CATTLE_AGENT_CONFIG_DIR', platform),
    prefix: variables.path('CATTLE_AGENT_BIN_PREFIX', platform),
    dataFolder: variables.path('CATTLE_AGENT_VAR_DIR', platform),
  });
  const bad = judgePaths(paths, platform);
  if (bad !== undefined) throw variables.refuse(...bad, 'a folder of its own');
  return paths;
}

function withParameters(
  environment: Readonly<Record<string, string | undefined>>,
  given: InstallParameters,
): Variables {
  const variables = new Variables(environment);
  for (const [parameter, name] of Object.entries(PARAMETERS)) {
    const value = given[parameter as keyof InstallParameters] ?? false;
    const text = typeof value === 'object' ? value.join(',') : value === true ? 'true' : value;
    if (text) variables.set(name, text, ADDED.has(name));
  }
  return variables;
}

function readMode(variables: Variables): 'remote' | 'local' {
  const isRemote = variables.flag('CATTLE_REMOTE_ENABLED') ?? true;
  const isLocal = variables.flag('CATTLE_LOCAL_ENABLED') ?? false;
  if (isRemote !== isLocal) return isRemote ? 'remote' : 'local';
  const name = 'CATTLE_REMOTE_ENABLED and CATTLE_LOCAL_ENABLED';
  throw variables.refuse(name, `both ${String(isRemote)}`, 'exactly one of them true');
}

/** Empty unless all three variables are set: for clusters without csi-proxy, Rancher sets only the version. */
function readCsiProxy(variables: Variables): ConfigChanges {
  const url = variables.text('CSI_PROXY_URL');
  const version = variables.text('CSI_PROXY_VERSION');
  const kubeletPath = variables.text('CSI_PROXY_KUBELET_PATH');
  if (url === undefined || version === undefined || kubeletPath === undefined) return {};
  return {
    'csi-proxy.url': url,
    'csi-proxy.version': version,
    'csi-proxy.kubeletPath': kubeletPath,
  };
}
