import { HealthCheckRequest, HealthService } from '../gen/health.js';

/** Longer requests are not parsed. */
const LONGEST_REQUEST = 64;
/** Replaces a name that is too long; no service has this name. */
const UNKNOWN_NAME = '?';

function deserializeHealthRequest(message: Buffer): HealthCheckRequest {
  return message.length > LONGEST_REQUEST
    ? { service: UNKNOWN_NAME }
    : HealthCheckRequest.decode(message);
}

/** The standard health service. Keeps no long name in memory while a client watches. */
export const healthServiceDefinition = {
  ...HealthService,
  check: { ...HealthService.check, requestDeserialize: deserializeHealthRequest },
  watch: { ...HealthService.watch, requestDeserialize: deserializeHealthRequest },
} as const;
