import { HealthCheckRequest, HealthService } from '../gen/health.js';

/** Longer requests are not parsed. */
const LONGEST_REQUEST = 64;
/** Stands for the service name of a request that is too long. No service is called `?`. */
const UNKNOWN_NAME = '?';

function deserializeHealthRequest(message: Buffer): HealthCheckRequest {
  return message.length > LONGEST_REQUEST
    ? { service: UNKNOWN_NAME }
    : HealthCheckRequest.decode(message);
}

/** The standard health service. Drops long service names from requests, so that a watch does not keep them in memory. */
export const healthServiceDefinition = {
  ...HealthService,
  check: { ...HealthService.check, requestDeserialize: deserializeHealthRequest },
  watch: { ...HealthService.watch, requestDeserialize: deserializeHealthRequest },
} as const;
