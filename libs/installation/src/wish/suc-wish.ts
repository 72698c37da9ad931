import { readPlaces, readServer, type ServerWish } from './environment-wish.js';
import type { InstallPlaces } from './install-places.js';
import { tlsConfig, wishOf, type FetchedParts, type InstallWish } from './install-wish.js';
import { Variables } from './read-variables.js';

/** From the upgrade controller's job. Undefined leaves a part unchanged. */
export interface SucWish extends ServerWish {
  readonly places: InstallPlaces;
  readonly isDebug: boolean | undefined;
  readonly isDelayedStart: boolean | undefined;
  readonly isRke2Dependent: boolean | undefined;
  readonly skipsProgram: boolean;
  readonly allowDowngrade: boolean;
}

export interface SucOptions {
  /**
   * Gives unset variables the original's meaning: no debug, no delayed start, no dependency. Default: they leave
   * settings as they are, as `STRICT_VERIFY` always does.
   */
  readonly rancherCompatible?: boolean;
  readonly platform?: NodeJS.Platform;
}

/** Pure. @throws InstallError `usage`; the message names the variable. */
export function sucWishFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { rancherCompatible = false, platform = process.platform }: SucOptions = {},
): SucWish {
  const variables = new Variables(environment);
  const unset = rancherCompatible ? false : undefined;
  const asked = readServer(variables);
  const [missing, other] =
    asked.server === undefined
      ? ['CATTLE_SERVER', 'CATTLE_TOKEN']
      : ['CATTLE_TOKEN', 'CATTLE_SERVER'];
  if ((asked.server === undefined) !== (asked.token === undefined))
    throw variables.refuse(missing, 'no value', `one beside ${other}, or neither of them`);
  return {
    ...asked,
    isDebug: variables.flag('CATTLE_WINS_DEBUG') ?? unset,
    isDelayedStart: variables.flag('CATTLE_ENABLE_WINS_DELAYED_START') ?? unset,
    isRke2Dependent: variables.flag('CATTLE_ENABLE_WINS_SERVICE_DEPENDENCY') ?? unset,
    skipsProgram: variables.flag('CATTLE_WINS_SKIP_BINARY_UPGRADE') ?? false,
    allowDowngrade: variables.flag('CATTLE_WINS_ALLOW_DOWNGRADE') ?? false,
    places: readPlaces(variables, platform),
  };
}

export function installWishOfSuc(wish: SucWish, fetched: FetchedParts): InstallWish {
  const { places, isDebug, isStrictTls, isRke2Dependent, skipsProgram, allowDowngrade } = wish;
  const { program, ...parts } = fetched;
  return {
    ...{ ...parts, ...wishOf(wish), allowDowngrade },
    ...(program !== undefined && !skipsProgram && { program }),
    config: {
      ...(isDebug !== undefined && { debug: isDebug }),
      ...(isStrictTls !== undefined && { agentStrictTLSMode: isStrictTls }),
      ...tlsConfig(places, parts.authorities),
    },
    ...(isRke2Dependent !== undefined && { isRke2Dependent }),
  };
}
