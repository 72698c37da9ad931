import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import type {
  HnsNetwork,
  HostVersion,
  NetworkAdapter,
  NetworkSelector,
  RouteEntry,
} from '@wins/base';
import { HnsServiceService } from './gen/hns.js';
import { HostServiceService } from './gen/host.js';
import { NetworkServiceService } from './gen/network.js';
import { RouteServiceService } from './gen/route.js';

/** Remote calls that concern a daemon's host. Each method rejects with a `WinsClientError`. */
export interface HostClient {
  /** Release of the host's operating system. */
  version(options?: CallOptions): Promise<HostVersion>;
  /** Describes a network adapter; by default, the one with the default route. */
  adapter(which?: NetworkSelector, options?: CallOptions): Promise<NetworkAdapter>;
  /** Describes an HNS network. Rejects with `failedPrecondition` if the host has no HNS. */
  hnsNetwork(which: NetworkSelector, options?: CallOptions): Promise<HnsNetwork>;
  /** A Go daemon answers `unimplemented`. */
  routes(options?: CallOptions): Promise<readonly RouteEntry[]>;
  /** Adds routes through the gateway of the default adapter. A Go daemon requires a prefix length, as in `8.8.8.8/32`. */
  addRoutes(addresses: readonly string[], options?: CallOptions): Promise<void>;
  /** Removes routes that `addRoutes` added. A Go daemon answers `unimplemented`. */
  removeRoutes(addresses: readonly string[], options?: CallOptions): Promise<void>;
}

/** Calls `method`; returns a part of its answer. Rejects if the answer lacks the part. */
export type Ask = <Request, Answer, Part>(
  method: MethodDefinition<Request, Answer>,
  request: Request,
  part: (answer: Answer) => Part | undefined,
  options?: CallOptions,
) => Promise<Part>;

export function createHostClient(ask: Ask): HostClient {
  return {
    version: (options) => ask(HostServiceService.getVersion, {}, ({ data }) => data, options),
    adapter: (which, options) => {
      const request = which === undefined ? {} : { options: choiceOf(which) };
      return ask(NetworkServiceService.get, request, ({ data }) => data, options);
    },
    hnsNetwork: (which, options) => {
      const request = { options: choiceOf(which) };
      return ask(HnsServiceService.getNetwork, request, ({ data }) => data, options);
    },
    routes: (options) => ask(RouteServiceService.list, {}, ({ data }) => data, options),
    addRoutes: async (addresses, options) => {
      const request = { addresses };
      await ask(RouteServiceService.add, request, (answer) => answer, options);
    },
    removeRoutes: async (addresses, options) => {
      const request = { addresses };
      await ask(RouteServiceService.remove, request, (answer) => answer, options);
    },
  };
}

function choiceOf(which: NetworkSelector) {
  return 'name' in which
    ? ({ $case: 'name', value: which.name } as const)
    : ({ $case: 'address', value: which.address } as const);
}
