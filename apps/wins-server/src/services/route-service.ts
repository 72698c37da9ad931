import type { RouteServiceServer } from '@wins/wins-api';
import { parseDestinations } from '../host-system/route-destinations.js';
import type { HostCalls } from './host-calls.js';

/** Serves wins.RouteService. */
export function createRouteService(calls: HostCalls): RouteServiceServer {
  return {
    add: (call, respond) => {
      const { Addresses } = call.request;
      calls.answer(call, respond, {
        action: 'addRoutes',
        subject: Addresses,
        changes: true,
        plan: () => {
          const addresses = canonical(Addresses);
          return async (host) => {
            await host.addRoutes(addresses);
            return {};
          };
        },
      });
    },

    remove: (call, respond) => {
      const { Addresses } = call.request;
      calls.answer(call, respond, {
        action: 'removeRoutes',
        subject: Addresses,
        changes: true,
        plan: () => {
          const addresses = canonical(Addresses);
          return async (host) => {
            await host.removeRoutes(addresses);
            return {};
          };
        },
      });
    },

    list: (call, respond) =>
      calls.answer(call, respond, {
        action: 'listRoutes',
        subject: [],
        plan: () => async (host) => ({
          Data: (await host.routes()).map((route) => ({
            DestinationCIDR: route.destinationCidr,
            Gateway: route.gateway,
            InterfaceIndex: route.interfaceIndex,
            Metric: route.metric,
          })),
        }),
      }),
  };
}

function canonical(addresses: readonly string[]): readonly string[] {
  return parseDestinations(addresses).map(({ text }) => text);
}
