import type { NetworkServiceServer } from '@wins/wins-api';
import { choiceSubject, chosenBy } from './chosen-by.js';
import type { HostCalls } from './host-calls.js';

/** Serves wins.NetworkService. */
export function createNetworkService(calls: HostCalls): NetworkServiceServer {
  return {
    get: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getAdapter',
        subject: choiceSubject(call.request.Options),
        plan: () => {
          const which = chosenBy(call.request.Options);
          return async (host) => {
            const adapter = await host.adapter(which);
            return {
              Data: {
                InterfaceIndex: adapter.interfaceIndex,
                GatewayAddress: adapter.gatewayAddress,
                SubnetCIDR: adapter.subnetCidr,
                HostName: adapter.hostName,
                AddressCIDR: adapter.addressCidr,
              },
            };
          };
        },
      }),
  };
}
