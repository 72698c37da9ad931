import type {
  MethodDefinition,
  ServerDuplexStream,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Feature } from '../../kernel/feature.js';
import { toRpcError } from '../../kernel/rpc/rpc-errors.js';
import type { Answerer } from './answerers.js';

type Exchange = ServerDuplexStream<Buffer, Buffer>;

const PATHS = ['v1', 'v1alpha'].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
);
// oxlint-disable-next-line typescript/no-require-imports
const load = () => require('./answerers.js') as typeof import('./answerers.js');

/** A request contains only the name of a file or symbol. */
const MAX_REQUEST_BYTES = 1024;

/**
 * Creates the handlers of the reflection service. The first request loads the library `@grpc/reflection`, which takes 12 to 14 MiB of memory. The
 * library ignores back-pressure. Each stream therefore reads its next request only after the client has read the previous answer.
 */
export function createReflection(): {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
} {
  let answerers: ReadonlyMap<string, Answerer> | undefined;
  const answer = (path: string, request: Buffer): Buffer => {
    answerers ??= load().answerersOfReflection();
    const answerer = answerers.get(path);
    if (answerer === undefined) throw new Error(`the library does not serve ${path}`);
    return answerer(request);
  };
  const serve = (path: string, call: Exchange): void => {
    call.on('data', (request: Buffer) => {
      call.pause();
      try {
        call.write(answer(path, request), () => call.resume());
      } catch (error) {
        call.emit('error', toRpcError(error));
      }
    });
    call.once('end', () => call.end());
  };
  return {
    definition: Object.fromEntries(PATHS.map((path) => [path, encodedMethod(path)])),
    implementation: Object.fromEntries(
      PATHS.map((path) => [path, ((call: Exchange) => serve(path, call)) as UntypedHandleCall]),
    ),
  };
}

/** Defines a method whose messages gRPC leaves encoded. The reflection library decodes them, and is loaded only when the first message arrives. */
function encodedMethod(path: string): MethodDefinition<Buffer, Buffer> {
  const asItIs = (bytes: Buffer): Buffer => bytes;
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: asItIs,
    requestDeserialize: (bytes) => {
      if (bytes.length <= MAX_REQUEST_BYTES) return bytes;
      throw new Error(
        `cannot answer: the request has ${bytes.length} bytes (limit ${MAX_REQUEST_BYTES})`,
      );
    },
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

export const reflection: Feature = {
  name: 'reflection',
  stage: 'serves',
  purpose: 'list the gRPC services',
  readAtStart: ['reflection'],
  settings: ({ config }) =>
    config.reflection ? {} : { reason: 'the config says reflection: false' },
  services: (_view, { config }) => {
    if (!config.start.loaded.config.reflection) return [];
    const { definition, implementation } = createReflection();
    return [{ definition, pipe: 'main', hasHealth: false, implement: () => implementation }];
  },
};
