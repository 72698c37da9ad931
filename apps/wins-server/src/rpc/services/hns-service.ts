import type { HnsServiceServer } from '@wins/wins-api';
import { HostSystemError } from '../../host-system/host-system-error.js';
import { choiceSubject, chosenBy } from './chosen-by.js';
import type { HostCalls } from './host-calls.js';

/** Serves wins.HnsService. */
export function createHnsService(calls: HostCalls): HnsServiceServer {
  return {
    getNetwork: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getHnsNetwork',
        subject: choiceSubject(call.request.Options),
        plan: () => {
          const which = chosenBy(call.request.Options);
          if (which === undefined) {
            const message = 'which network? wanted its name or an address of it';
            throw new HostSystemError('invalid-argument', message);
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
