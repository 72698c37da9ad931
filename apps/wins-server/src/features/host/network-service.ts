import type { NetworkServiceServer } from '@wins/wins-api/contract';
import { textsOfChoice, readChoice } from './read-choice.js';
import type { HostCallGate } from './host-call-gate.js';

/** Serves wins.NetworkService. */
export function createNetworkService(calls: Pick<HostCallGate, 'answer'>): NetworkServiceServer {
  return {
    get: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getAdapter',
        subject: textsOfChoice(call.request.Options),
        plan: () => {
          const which = readChoice(call.request.Options);
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
