import type { HnsServiceServer } from '@wins/wins-api/contract';
import { FeatureError } from '../../kernel/feature-error.js';
import { textsOfChoice, readChoice } from './read-choice.js';
import type { HostCallGate } from './host-call-gate.js';

/** Serves wins.HnsService. */
export function createHnsService(calls: Pick<HostCallGate, 'answer'>): HnsServiceServer {
  return {
    getNetwork: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getHnsNetwork',
        subject: textsOfChoice(call.request.Options),
        plan: () => {
          const which = readChoice(call.request.Options);
          if (which === undefined) {
            const message =
              'cannot choose a network: found an empty request; wanted a name or an address';
            throw new FeatureError('invalidArgument', message);
          }
          return async (host) => {
            const network = await host.hnsNetwork(which);
            return {
              Data: {
                ID: network.id,
                Type: network.type,
                Subnets: network.subnets.map(({ addressCidr, gatewayAddress }) => ({
                  AddressCIDR: addressCidr,
                  GatewayAddress: gatewayAddress,
                })),
                ManagementIP: network.managementIp,
              },
            };
          };
        },
      }),
  };
}
