import type { WinsConfig } from '@wins/config';
import type { Cloud, DesiredRoute } from '@wins/host-network';

/** Routes that the host should have; with neither key, routes of an earlier section are removed. */
export interface NetworkSettings {
  readonly routes: readonly DesiredRoute[];
  readonly keep: readonly Cloud[];
}

/** Reads what the section wants, in one form for what is written in several. */
export function networkSettings({ hostNetwork }: Pick<WinsConfig, 'hostNetwork'>): NetworkSettings {
  const routes = (hostNetwork?.routes ?? []).map(
    ({ destination, gateway, interface: through, metric }): DesiredRoute => ({
      destination: destination.includes('/') ? destination : `${destination}/32`,
      ...(gateway !== undefined && { gateway }),
      ...(through !== undefined && { interface: through }),
      metric,
    }),
  );
  return { routes, keep: hostNetwork?.keep ?? [] };
}

export function wantsNothing({ routes, keep }: NetworkSettings): boolean {
  return routes.length === 0 && keep.length === 0;
}
