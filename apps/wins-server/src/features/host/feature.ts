import { formatAddress, parseNetwork, type NetworkSelector } from '@wins/base';
import {
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
  type HnsServiceServer,
  type HostServiceServer,
  type NetworkServiceServer,
} from '@wins/wins-api/contract';
import { FeatureError } from '../../kernel/feature-error.js';
import { service, type Feature } from '../../kernel/feature.js';
import type { HostCallGate } from '../../kernel/rpc/host-call-gate.js';

const MAX_NAME_LENGTH = 256;

type ChoiceMessage = { readonly $case: 'name' | 'address'; readonly value: string } | undefined;

export function hostServices(calls: Pick<HostCallGate, 'answer'>) {
  const host: HostServiceServer = {
    getVersion: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getVersion',
        subject: [],
        plan: () => async (system) => ({ data: await system.version() }),
      }),
  };
  const network: NetworkServiceServer = {
    get: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getAdapter',
        subject: wordsOf(call.request.options),
        plan: () => {
          const which = readChoice(call.request.options);
          return async (system) => ({ data: await system.adapter(which) });
        },
      }),
  };
  const hns: HnsServiceServer = {
    getNetwork: (call, respond) =>
      calls.answer(call, respond, {
        action: 'getHnsNetwork',
        subject: wordsOf(call.request.options),
        plan: () => {
          const which = readChoice(call.request.options);
          if (which === undefined)
            throw invalid('cannot choose a network: the request has neither a name nor an address');
          return async (system) => ({ data: await system.hnsNetwork(which) });
        },
      }),
  };
  return { host, network, hns };
}

function wordsOf(choice: ChoiceMessage): readonly string[] {
  return choice === undefined ? [] : [choice.value];
}

/** Parses a name, or an address in canonical form. Go clients send an empty text if they select nothing. @throws FeatureError `invalidArgument` */
function readChoice(choice: ChoiceMessage): NetworkSelector | undefined {
  if (choice === undefined || choice.value === '') return undefined;
  const { $case, value } = choice;
  if ($case === 'name') {
    if (value.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(value)) return { name: value };
    throw invalid(
      `cannot choose a network: the name has ${value.length} characters; wanted 1 to ${MAX_NAME_LENGTH} printable ones`,
    );
  }
  const network = parseNetwork(value);
  if (network === undefined)
    throw invalid('cannot choose a network: its address is not an IP address such as 192.0.2.2');
  const address = formatAddress(network.bytes);
  return { address: value.includes('/') ? `${address}/${network.prefix}` : address };
}

function invalid(message: string): FeatureError {
  return new FeatureError('invalidArgument', message);
}

export const host: Feature = {
  name: 'host',
  stage: 'serves',
  purpose: 'describe the host',
  settings: () => ({}),
  services: (_view, { hostCalls }) => {
    const services = hostServices(hostCalls);
    return [
      service(hostServiceDefinition, 'main', () => services.host),
      service(networkServiceDefinition, 'main', () => services.network),
      service(hnsServiceDefinition, 'main', () => services.hns),
    ];
  },
};
