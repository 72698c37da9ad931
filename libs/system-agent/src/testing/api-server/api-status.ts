export interface ApiStatus {
  readonly kind: 'Status';
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly [key: string]: unknown;
}

export class ApiFailure extends Error {
  constructor(
    readonly status: ApiStatus & { readonly code: number },
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(status.message);
  }
}

export function failure(
  code: number,
  reason: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): ApiFailure {
  return new ApiFailure({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code,
  });
}

export function unauthorized(): ApiFailure {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

export function forbidden(
  user: string,
  verb: string,
  namespace: string,
  name: string | undefined,
): ApiFailure {
  const what = name === undefined ? 'secrets' : `secrets "${name}"`;
  const { status } = failure(
    403,
    'Forbidden',
    `${what} is forbidden: User "${user}" cannot ${verb} resource "secrets" in API group "" in the namespace "${namespace}"`,
    { ...(name !== undefined && { name }), kind: 'secrets' },
  );
  return new ApiFailure(status, { 'x-content-type-options': 'nosniff' });
}

export function notFound(name: string): ApiFailure {
  return failure(404, 'NotFound', `secrets "${name}" not found`, { name, kind: 'secrets' });
}

export function alreadyExists(name: string): ApiFailure {
  const details = { name, kind: 'secrets' };
  return failure(409, 'AlreadyExists', `secrets "${name}" already exists`, details);
}

export function conflict(name: string, found: string): ApiFailure {
  const message = `Operation cannot be fulfilled on secrets "${name}": ${found}`;
  return failure(409, 'Conflict', message, { name, kind: 'secrets' });
}

export function badBase64(position: number): ApiFailure {
  const message = `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${position}`;
  return failure(400, 'BadRequest', message);
}

export function dataTooLong(name: string): ApiFailure {
  const message = 'Too long: may not be more than 1048576 bytes';
  return failure(422, 'Invalid', `Secret "${name}" is invalid: data: ${message}`, {
    name,
    kind: 'Secret',
    causes: [{ reason: 'FieldValueTooLong', message, field: 'data' }],
  });
}

export function tooLargeVersion(asked: number, current: number): ApiFailure {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  const { status } = failure(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
  return new ApiFailure(status, { 'retry-after': '1' });
}

export function expired(asked: number, oldest: number): ApiFailure {
  return failure(410, 'Expired', `too old resource version: ${asked} (${oldest})`);
}

export function deleted(name: string, uid: string): ApiStatus {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, kind: 'secrets', uid },
  };
}
