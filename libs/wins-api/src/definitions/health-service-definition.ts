import { HealthCheckRequest, HealthService } from '../gen/health.js';

/** Longest request that can be about a service of ours, in octets; longer names are not even read. */
const LONGEST_REQUEST = 64;
/** No service has it. */
const UNKNOWN_NAME = '?';

/** Reads whom a client asks about. What is too long for any service counts as a name that no service has. */
function deserializeHealthRequest(message: Buffer): HealthCheckRequest {
  return message.length > LONGEST_REQUEST
    ? { service: UNKNOWN_NAME }
    : HealthCheckRequest.decode(message);
}

/** The standard health service for servers, which keeps no long name of a client while that watches. */
export const healthServiceDefinition = {
  ...HealthService,
  check: { ...HealthService.check, requestDeserialize: deserializeHealthRequest },
  watch: { ...HealthService.watch, requestDeserialize: deserializeHealthRequest },
} as const;
