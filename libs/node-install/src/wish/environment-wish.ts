import { installPlaces, type InstallPlaces, type PlaceChoices } from './install-places.js';
import { judgePlaces } from './judge-places.js';
import { Variables } from './read-variables.js';
import type { Secret } from './secret.js';

/** The parameters of Rancher's command; each goes before the variable of the same meaning, and labels and taints are added to it. */
export interface InstallParameters {
  readonly server?: string | undefined;
  /** Only for callers in this process: a token does not belong on a command line. */
  readonly token?: string | undefined;
  readonly caChecksum?: string | undefined;
  readonly worker?: boolean | undefined;
  readonly label?: string | undefined;
  readonly taint?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly address?: string | undefined;
  readonly internalAddress?: string | undefined;
  readonly strictTlsVerification?: boolean | undefined;
  readonly delayedStart?: boolean | undefined;
}

/** What the environment and the parameters of an installation say. Nothing in it was compared with the node or a server. */
export interface EnvironmentWish {
  readonly mode: 'remote' | 'local';
  readonly server?: string;
  readonly token?: Secret;
  /** Lower-case SHA-256 of the authorities as the server sends them. */
  readonly caChecksum?: string;
  readonly isWorker: boolean;
  /** `k=v` */
  readonly labels: readonly string[];
  /** `k=v:Effect` */
  readonly taints: readonly string[];
  readonly nodeName?: string;
  /** An address, the name of an adapter, or a word for what a cloud knows. */
  readonly address?: string;
  readonly internalAddress?: string;
  readonly nodeId?: string;
  /** Undefined leaves what there is. */
  readonly isStrictTls?: boolean;
  /** Undefined leaves what there is. */
  readonly isDelayedStart?: boolean;
  readonly preservesWorkDirectory: boolean;
  readonly programSha256?: string;
  readonly csiProxy?: {
    readonly url: string;
    readonly version: string;
    readonly kubeletPath: string;
  };
  /** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, as far as they are set; null for one that is set and empty, which takes it away. */
  readonly proxies: ProxyWish;
  readonly places: InstallPlaces;
}

/** Values of {@link PROXY_VARIABLES}; null takes one away. */
export type ProxyWish = Readonly<Record<string, Secret | null>>;

/** The variables by which programs find a proxy, in the spelling in which the service gets them. */
export const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

/**
 * Reads what an installation is to be from the variables and parameters of Rancher's own installer, with the same meaning. Pure.
 *
 * Different on purpose: nothing is written back to the environment, `CATTLE_ROLE_NONE` and roles other than worker are not read, as
 * there, and only the three proxy variables themselves count, not all whose names begin like theirs.
 *
 * @throws InstallError `usage`; the message names the variable.
 */
export function wishFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  parameters: InstallParameters = {},
  platform: NodeJS.Platform = process.platform,
): EnvironmentWish {
  const variables = new Variables(withParameters(environment, parameters));
  const mode = readMode(variables);
  const server = variables.url('CATTLE_SERVER');
  const token = variables.secret('CATTLE_TOKEN');
  if (mode === 'remote') {
    const missing = server === undefined ? 'CATTLE_SERVER' : token ? undefined : 'CATTLE_TOKEN';
    if (missing !== undefined) {
      const wanted = 'one for a node that joins a server, or CATTLE_REMOTE_ENABLED=false';
      throw variables.refuse(missing, 'no value', wanted);
    }
  }
  const label = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
  const id = 'at most 63 letters, digits, "-", "_" and "."';
  return {
    mode,
    ...(server !== undefined && { server }),
    ...(token !== undefined && { token }),
    ...some('caChecksum', variables.sha256('CATTLE_CA_CHECKSUM')),
    isWorker: variables.flag('CATTLE_ROLE_WORKER') ?? false,
    labels: variables.words('CATTLE_LABELS'),
    taints: variables.words('CATTLE_TAINTS'),
    ...some(
      'nodeName',
      variables.word('CATTLE_NODE_NAME', /^[A-Za-z0-9][-A-Za-z0-9.]{0,252}$/, 'a host name'),
    ),
    ...some('address', variables.text('CATTLE_ADDRESS', 256)),
    ...some('internalAddress', variables.text('CATTLE_INTERNAL_ADDRESS', 256)),
    ...some('nodeId', variables.word('CATTLE_ID', label, id)),
    ...some('isStrictTls', variables.flag('STRICT_VERIFY')),
    ...some('isDelayedStart', variables.flag('CATTLE_ENABLE_WINS_DELAYED_START')),
    preservesWorkDirectory: variables.flag('CATTLE_PRESERVE_WORKDIR') ?? false,
    ...some('programSha256', variables.sha256('CATTLE_AGENT_BINARY_CHECKSUM')),
    ...some('csiProxy', readCsiProxy(variables)),
    proxies: readProxies(variables),
    places: readPlaces(variables, platform, {
      dataFolder: variables.path('CATTLE_AGENT_VAR_DIR', platform),
    }),
  };
}

/** The proxies that the environment names. @throws InstallError `usage`. */
export function readProxies(variables: Variables): ProxyWish {
  const found = PROXY_VARIABLES.flatMap((name): (readonly [string, Secret | null])[] => {
    const value = variables.isEmpty(name) ? null : variables.secret(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

/** Where the environment wants what. @throws InstallError `usage`. */
export function readPlaces(
  variables: Variables,
  platform: NodeJS.Platform,
  more: PlaceChoices,
): InstallPlaces {
  const places = installPlaces(platform, {
    configFolder: variables.path('CATTLE_AGENT_CONFIG_DIR', platform),
    prefix: variables.path('CATTLE_AGENT_BIN_PREFIX', platform),
    ...more,
  });
  const bad = judgePlaces(places, platform);
  if (bad !== undefined) throw variables.refuse(bad.name, bad.found, bad.wanted);
  return places;
}

/** A property that is there only when it has a value. */
function some<N extends string, T>(name: N, value: T | undefined): { readonly [K in N]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [K in N]?: T };
}

function withParameters(
  environment: Readonly<Record<string, string | undefined>>,
  given: InstallParameters,
): Record<string, string | undefined> {
  const found = (name: string): string | undefined => {
    const key = Object.keys(environment).find((each) => each.toUpperCase() === name);
    return environment[name] ?? (key === undefined ? undefined : environment[key]);
  };
  const flag = (value: boolean | undefined): string | undefined =>
    value === undefined ? undefined : String(value);
  const added = (name: string, more: string | undefined): string | undefined =>
    more === undefined ? undefined : [found(name), more].filter(Boolean).join(',');
  const overrides: Record<string, string | undefined> = {
    CATTLE_SERVER: given.server,
    CATTLE_TOKEN: given.token,
    CATTLE_CA_CHECKSUM: given.caChecksum,
    CATTLE_ROLE_WORKER: flag(given.worker),
    CATTLE_LABELS: added('CATTLE_LABELS', given.label),
    CATTLE_TAINTS: added('CATTLE_TAINTS', given.taint),
    CATTLE_NODE_NAME: given.nodeName,
    CATTLE_ADDRESS: given.address,
    CATTLE_INTERNAL_ADDRESS: given.internalAddress,
    STRICT_VERIFY: flag(given.strictTlsVerification),
    CATTLE_ENABLE_WINS_DELAYED_START: flag(given.delayedStart),
  };
  const set = Object.entries(overrides).filter(([, value]) => value !== undefined && value !== '');
  return { ...environment, ...Object.fromEntries(set) };
}

function readMode(variables: Variables): 'remote' | 'local' {
  const isRemote = variables.flag('CATTLE_REMOTE_ENABLED') ?? true;
  const isLocal = variables.flag('CATTLE_LOCAL_ENABLED') ?? false;
  if (isRemote !== isLocal) return isRemote ? 'remote' : 'local';
  const name = 'CATTLE_REMOTE_ENABLED and CATTLE_LOCAL_ENABLED';
  throw variables.refuse(name, `both ${String(isRemote)}`, 'exactly one of them true');
}

/** Only where all three are set, as in the original: Rancher sets the version alone for clusters that do not want it. */
function readCsiProxy(variables: Variables): EnvironmentWish['csiProxy'] {
  const url = variables.text('CSI_PROXY_URL');
  const version = variables.text('CSI_PROXY_VERSION');
  const kubeletPath = variables.text('CSI_PROXY_KUBELET_PATH');
  if (url === undefined || version === undefined || kubeletPath === undefined) return undefined;
  return { url, version, kubeletPath };
}
