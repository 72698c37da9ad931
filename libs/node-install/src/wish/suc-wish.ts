import { SERVICE_NAME } from '@wins/wins-program';
import { type ProxyWish, readPlaces, readProxies } from './environment-wish.js';
import type { InstallPlaces } from './install-places.js';
import { tlsConfig, type FetchedParts, type InstallWish } from './install-wish.js';
import { Variables } from './read-variables.js';
import type { Secret } from './secret.js';

/** What the environment of the upgrade controller's job says. */
export interface SucWish {
  readonly server?: string;
  readonly token?: Secret;
  readonly caChecksum?: string;
  readonly places: InstallPlaces;
  readonly isDebug?: boolean;
  readonly isStrictTls?: boolean;
  readonly isDelayedStart?: boolean;
  readonly isRke2Dependent?: boolean;
  readonly skipsProgram: boolean;
  readonly allowDowngrade: boolean;
  readonly proxies: ProxyWish;
}

/** How an environment is read. */
export interface SucOptions {
  /**
   * An unset variable means what it meant to the original: no debug, no delayed start, no dependency. Default: what is unset stays as
   * it is. `STRICT_VERIFY` stays in both.
   */
  readonly rancherCompatible?: boolean;
  readonly platform?: NodeJS.Platform;
}

/**
 * Reads the variables of Rancher's plan for the upgrade controller. Pure.
 *
 * @throws InstallError `usage`; the message names the variable.
 */
export function sucWishFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { rancherCompatible = false, platform = process.platform }: SucOptions = {},
): SucWish {
  const variables = new Variables(environment);
  const unset = rancherCompatible ? false : undefined;
  const flags = {
    isDebug: variables.flag('CATTLE_WINS_DEBUG') ?? unset,
    isStrictTls: variables.flag('STRICT_VERIFY'),
    isDelayedStart: variables.flag('CATTLE_ENABLE_WINS_DELAYED_START') ?? unset,
    isRke2Dependent: variables.flag('CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY') ?? unset,
  };
  const values = {
    server: variables.url('CATTLE_SERVER'),
    token: variables.secret('CATTLE_TOKEN'),
    caChecksum: variables.sha256('CATTLE_CA_CHECKSUM'),
  };
  if ((values.server === undefined) !== (values.token === undefined)) {
    const missing = values.server === undefined ? 'CATTLE_SERVER' : 'CATTLE_TOKEN';
    const other = values.server === undefined ? 'CATTLE_TOKEN' : 'CATTLE_SERVER';
    throw variables.refuse(missing, 'no value', `one beside ${other}, or neither of them`);
  }
  const set = Object.entries({ ...flags, ...values }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(set) as Partial<SucWish>),
    skipsProgram: variables.flag('CATTLE_WINS_SKIP_BINARY_UPGRADE') ?? false,
    allowDowngrade: variables.flag('CATTLE_WINS_ALLOW_DOWNGRADE') ?? false,
    proxies: readProxies(variables),
    // CATTLE_AGENT_VAR_DIR of this plan is a path of Linux, also for a node of Windows.
    places: readPlaces(variables, platform, {}),
  };
}

/** What the node is to be, by the environment and what was fetched. Pure. */
export function installWishOfSuc(wish: SucWish, fetched: FetchedParts): InstallWish {
  const { places, isDebug, isStrictTls, isDelayedStart, isRke2Dependent, skipsProgram } = wish;
  const { program, authorities, ...parts } = fetched;
  return {
    ...parts,
    ...{ places, service: SERVICE_NAME, allowDowngrade: wish.allowDowngrade },
    ...(program !== undefined && !skipsProgram && { program }),
    ...(authorities !== undefined && { authorities }),
    config: {
      ...(isDebug !== undefined && { debug: isDebug }),
      ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
      ...tlsConfig(places, authorities),
    },
    ...(isDelayedStart !== undefined && { startType: isDelayedStart ? 'delayed' : 'automatic' }),
    ...(isRke2Dependent !== undefined && { isRke2Dependent }),
    ...(Object.keys(wish.proxies).length > 0 && { environment: wish.proxies }),
  };
}
