import type { MethodDefinition } from '@grpc/grpc-js';

const SERVING = 1;

/**
 * The method `Check` of the standard health service. It reports on the daemon as a whole. The answer has one field, a
 * status in one octet; anything else counts as not serving.
 */
export const healthCheckDefinition: MethodDefinition<object, boolean> = {
  path: '/grpc.health.v1.Health/Check',
  requestStream: false,
  responseStream: false,
  requestSerialize: () => Buffer.alloc(0),
  requestDeserialize: () => ({}),
  responseSerialize: (serving) => Buffer.from([0x08, serving ? SERVING : SERVING + 1]),
  responseDeserialize: (message) => message[0] === 0x08 && message[1] === SERVING,
};
