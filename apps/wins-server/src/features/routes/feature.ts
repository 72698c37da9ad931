import type { HostSystem } from '@wins/base';
import { routeServiceDefinition, type RouteServiceServer } from '@wins/wins-api/contract';
import { service, type Feature } from '../../kernel/feature.js';
import type { HostCallGate } from '../../kernel/rpc/host-call-gate.js';
import { assertGranted, ownNetworks, parseDestinations } from './judge-routes.js';

export function createRouteService(
  calls: Pick<HostCallGate, 'answer'>,
  granted: () => readonly string[],
  findOwnNetworks = ownNetworks,
): RouteServiceServer {
  const destinationsIn = async (
    addresses: readonly string[],
    host: HostSystem,
  ): Promise<readonly string[]> => {
    const destinations = parseDestinations(addresses);
    assertGranted(destinations, granted(), findOwnNetworks(await host.routes()));
    return destinations.map(({ text }) => text);
  };
  const changing =
    (
      action: 'addRoutes' | 'removeRoutes',
    ): RouteServiceServer['add'] & RouteServiceServer['remove'] =>
    (call, respond) => {
      const subject = call.request.addresses;
      calls.answer(call, respond, {
        action,
        subject,
        changes: true,
        plan: async (system) => {
          const addresses = await destinationsIn(subject, system);
          return async (host) => {
            await host[action](addresses);
            return {};
          };
        },
      });
    };
  return {
    add: changing('addRoutes'),
    remove: changing('removeRoutes'),
    list: (call, respond) =>
      calls.answer(call, respond, {
        action: 'listRoutes',
        subject: [],
        plan: () => async (host) => ({ data: await host.routes() }),
      }),
  };
}

interface RouteSettings {
  readonly granted: readonly string[];
}

export const routes: Feature<RouteSettings> = {
  name: 'routes',
  stage: 'serves',
  purpose: 'change routes',
  settings: ({ config }) => ({ granted: config.routes.allow }),
  services: (view, { hostCalls }) => [
    service(routeServiceDefinition, 'main', () =>
      createRouteService(hostCalls, () => view.settings?.granted ?? []),
    ),
  ],
};
